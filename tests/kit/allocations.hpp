#pragma once

#include <cstdint>

namespace framewire::kit {

/// Returns the number of calls to operator new in this program so far, by all threads. Tests compare it before and
/// after to show that a frame path does not allocate.
std::int64_t allocations();

/// Returns the total number of bytes that these calls requested, whether freed since or not.
std::int64_t allocated_bytes();

}  // namespace framewire::kit
