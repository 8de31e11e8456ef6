#pragma once

#include <functional>
#include <stop_token>

namespace framewire {

/// Runs `call` on a thread of its own and waits for it, for calls into libraries that nothing can interrupt. Returns
/// true when it is done and rethrows what it threw. Returns false as soon as `stop` is requested: the thread then ends
/// by itself, so `call` must own everything that it uses.
bool run_abandonable(std::function<void()> call, const std::stop_token& stop);

/// How many abandoned calls still run. A program that ends meanwhile ends by std::_Exit(): they may use objects that
/// std::exit() destroys.
int abandoned_calls();

}  // namespace framewire
