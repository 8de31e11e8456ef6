#pragma once

#include "framewire/core/log.hpp"

namespace framewire::app {

/// Sends log lines of `least` and above to standard error, as shown_text() has them: `framewire: info: ...`. On a
/// terminal each erases what a progress bar has drawn there, and the level's name is coloured.
void show_log_lines(LogLevel least);

}  // namespace framewire::app
