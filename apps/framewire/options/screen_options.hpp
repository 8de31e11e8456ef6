#pragma once

#include "command_line/command_line.hpp"
#include "view/screen/screen.hpp"

#include <cstddef>

namespace framewire::app {

/// Adds `--fullscreen`, `--snapshots` and `--record-as`, the options of the window of `show` and `view`.
void add_screen_options(Command& command, ScreenOptions& options);

/// Throws Error{usage} if a window cannot show that many cameras.
void require_room(std::size_t cameras);

}  // namespace framewire::app
