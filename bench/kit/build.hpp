#pragma once

#include <string>

namespace framewire::bench {

/// Returns the reason why this build is unsuitable for measurements ("it was compiled without optimisation"); empty if
/// it is suitable.
std::string build_flaw();
/// Returns the compiler that built this program; build_type() returns CMake's build type.
std::string compiler_name();
std::string build_type();

}  // namespace framewire::bench
