#pragma once

#include <string>

namespace framewire::app {

/// Text that `--version` prints: the version on its own line, then build settings and what was found on this machine.
std::string version_text();

}  // namespace framewire::app
