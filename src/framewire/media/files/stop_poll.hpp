#pragma once

namespace framewire {

/// How often a wait for a file's other end looks whether it shall stop.
constexpr int stop_poll_ms = 100;

}  // namespace framewire
