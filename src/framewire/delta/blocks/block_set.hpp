#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace framewire::delta {

/// Some blocks of a frame: a number for each block, row by row, which is not 0 for those that are of them.
using BlockSet = std::vector<std::uint8_t>;

/// Whether some block is of the set.
inline bool any(const BlockSet& blocks) {
    return std::any_of(blocks.begin(), blocks.end(), [](std::uint8_t of) { return of != 0; });
}
/// Whether all blocks are.
inline bool all(const BlockSet& blocks) {
    return std::all_of(blocks.begin(), blocks.end(), [](std::uint8_t of) { return of != 0; });
}

}  // namespace framewire::delta
