#pragma once

#include "command_line/command_line.hpp"
#include "view/screen/screen.hpp"

#include <cstddef>

namespace framewire::app {

/// `--fullscreen`, `--snapshots` and `--record-as`: what the window of `show` and `view` takes.
void add_screen_options(Command& command, ScreenOptions& options);

/// Throws Error{usage} on more cameras than a window shows.
void require_room(std::size_t cameras);

}  // namespace framewire::app
