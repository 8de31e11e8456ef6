#pragma once

namespace framewire {

/// Interval at which a wait for the other end of a file checks for a stop request.
constexpr int stop_poll_ms = 100;

}  // namespace framewire
