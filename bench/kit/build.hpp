#pragma once

#include <string>

namespace framewire::bench {

/// Why figures of this build tell nothing of framewire ("it was compiled without optimisation"); empty where they do.
std::string build_flaw();
/// What compiled this program: the compiler, then CMake's build type.
std::string compiler_name();
std::string build_type();

}  // namespace framewire::bench
