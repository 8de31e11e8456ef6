#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace framewire::kit {

/// True when FRAMEWIRE_REQUIRE_DATA is set, as scripts/test.sh does once it has installed all that tests read.
inline bool requires_data() { return std::getenv("FRAMEWIRE_REQUIRE_DATA") != nullptr; }

}  // namespace framewire::kit

/// Ends a test, or its SetUp(), on a machine without something it reads: skipped with `why`, which says what is missing
/// and what brings it; failed where all is required.
#define FRAMEWIRE_NEEDS(is_there, why)                        \
    do {                                                      \
        if (is_there) break;                                  \
        if (framewire::kit::requires_data()) FAIL() << (why); \
        GTEST_SKIP() << (why);                                \
    } while (false)
