#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace framewire::kit {

/// Returns true if FRAMEWIRE_REQUIRE_DATA is set, which scripts/test.sh does after it has installed all test data.
inline bool requires_data() { return std::getenv("FRAMEWIRE_REQUIRE_DATA") != nullptr; }

}  // namespace framewire::kit

/// Ends a test, or its SetUp(), if the machine lacks something that the test reads. Skips the test with `why`, which
/// names the missing item and how to install it, or fails it if all test data is required.
#define FRAMEWIRE_NEEDS(is_there, why)                        \
    do {                                                      \
        if (is_there) break;                                  \
        if (framewire::kit::requires_data()) FAIL() << (why); \
        GTEST_SKIP() << (why);                                \
    } while (false)
