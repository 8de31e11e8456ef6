#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/part_set.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>
#include <span>

namespace framewire::delta {

/// Horizontally adjacent blocks of a frame that are compared together.
struct Strip {
    static constexpr int most_blocks = 32;

    int first_block;   ///< number of the leftmost block
    int blocks;        ///< 1 to `most_blocks`
    BlockPlace place;  ///< area of all of them
};

/// Compares a strip of `current` with R (`reference`) and updates R where it is off by more than `threshold`.
///
/// `differences` starts at the strip's first pixel, has whole blocks, and must be 0; changed bytes get the new value
/// minus the old one modulo 256. Adds each block's changes to its element of `changes`. Returns the number of changed
/// bytes and the errors that remain. Thread-safe for disjoint strips.
Summary compare_strip(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference, const Strip& strip,
                      int threshold, HostView<std::uint8_t> differences, std::span<BlockChanges> changes);

}  // namespace framewire::delta
