#pragma once

#include <cstdint>

namespace framewire::kit {

/// How often operator new was called in this program so far, by any thread. Tests that a frame path does not allocate
/// compare it before and after.
std::int64_t allocations();

}  // namespace framewire::kit
