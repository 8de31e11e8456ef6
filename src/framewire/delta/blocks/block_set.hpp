#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace framewire::delta {

/// Set of blocks of a frame: one entry per block, row by row; nonzero entries belong to the set.
using BlockSet = std::vector<std::uint8_t>;

/// Returns true if the set has at least one block.
inline bool any(const BlockSet& blocks) {
    return std::any_of(blocks.begin(), blocks.end(), [](std::uint8_t of) { return of != 0; });
}
/// Returns true if the set has every block.
inline bool all(const BlockSet& blocks) {
    return std::all_of(blocks.begin(), blocks.end(), [](std::uint8_t of) { return of != 0; });
}

}  // namespace framewire::delta
