#pragma once

#include <string>

namespace framewire::app {

/// What `--version` prints: the program's version on a line of its own, then what it was built with and finds here.
std::string version_text();

}  // namespace framewire::app
