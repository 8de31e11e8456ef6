#pragma once

#include <functional>
#include <stop_token>

namespace framewire {

/// Runs `call` on a thread of its own and waits for it. For calls into libraries that nothing can interrupt. Returns
/// true when `call` has returned, and rethrows the exception that it threw. Returns false as soon as `stop` is
/// requested, and without starting a thread if it already is. In that case the thread is abandoned and ends when `call`
/// returns, so `call` must own every object that it uses. Its later exception is dropped.
bool run_abandonable(std::function<void()> call, const std::stop_token& stop);

/// Returns the number of abandoned calls that are still running. If there are any, a program must end with
/// std::_Exit(): these calls may use objects that std::exit() destroys.
int abandoned_calls();

}  // namespace framewire
