#pragma once

#include "framewire/core/log.hpp"

namespace framewire::app {

/// Prints log lines of level `least` and above on standard error, passed through shown_text(): `framewire: info: ...`.
/// On a terminal, each line erases a progress bar and the level is coloured.
void show_log_lines(LogLevel least);

}  // namespace framewire::app
