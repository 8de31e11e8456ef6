#pragma once

#include <cstdint>
#include <vector>

namespace framewire::delta {

/// Some blocks of a frame: a number for each block, row by row, which is not 0 for those that are of them.
using BlockSet = std::vector<std::uint8_t>;

}  // namespace framewire::delta
