#pragma once

#include <string>

namespace framewire::app {

/// Returns the text that `--version` prints: the version on a line of its own, then build settings and the hardware and
/// libraries found on this machine.
std::string version_text();

}  // namespace framewire::app
