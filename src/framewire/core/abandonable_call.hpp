#pragma once

#include <functional>
#include <stop_token>

namespace framewire {

/// Runs `call` on a separate thread and waits for it. For calls into libraries that nothing can interrupt. Returns
/// true when `call` has returned, and rethrows the exception that it threw. Returns false as soon as a stop is
/// requested, or without starting a thread if one was requested before. In that case the thread is abandoned and ends
/// when `call` returns, so `call` must own every object that it uses. An exception that it throws later is dropped.
bool run_abandonable(std::function<void()> call, const std::stop_token& stop);

/// Returns the number of abandoned calls that are still running. If there are any, a program must end with
/// std::_Exit(): these calls may use objects that std::exit() destroys.
int abandoned_calls();

}  // namespace framewire
