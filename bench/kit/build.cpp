// Compiled separately (tests/benches_test.sh compiles it without optimisation), with CMake's description of the build.

#include "kit/build.hpp"

namespace framewire::bench {

std::string build_flaw() {
#ifndef __OPTIMIZE__
    return "it was compiled without optimisation";
#else
    if (build_type() == "Debug") return "its build type is Debug";
    const std::string sanitizers = FRAMEWIRE_SANITIZE;
    return sanitizers.empty() ? "" : "it was built with sanitizers (" + sanitizers + ")";
#endif
}

std::string compiler_name() {
#ifdef __clang__
    return __VERSION__;  // begins with the compiler's name
#else
    return std::string("GCC ") + __VERSION__;
#endif
}

std::string build_type() { return FRAMEWIRE_BUILD_TYPE; }

}  // namespace framewire::bench
