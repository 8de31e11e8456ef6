#pragma once

#include <cstdint>

namespace framewire::kit {

/// How often operator new was called in this program so far, by any thread. Tests that a frame path does not allocate
/// compare it before and after.
std::int64_t allocations();

/// How many bytes all those calls asked for together, whether they were freed since or not.
std::int64_t allocated_bytes();

}  // namespace framewire::kit
