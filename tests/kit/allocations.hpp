#pragma once

#include <cstdint>

namespace framewire::kit {

/// Returns the number of calls to operator new in this program so far, by all threads. Tests compare the number before
/// and after a frame path to show that the path does not allocate.
std::int64_t allocations();

/// Returns the total number of bytes that these calls requested, including memory that has been freed since.
std::int64_t allocated_bytes();

}  // namespace framewire::kit
