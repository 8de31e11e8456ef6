#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/part_set.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>
#include <span>

namespace framewire::delta {

/// Blocks of a frame that lie side by side, compared as one.
struct Strip {
    static constexpr int most_blocks = 32;

    int first_block;   ///< its number in the frame
    int blocks;        ///< `most_blocks` at most
    BlockPlace place;  ///< of all of them
};

/// Brings R, `reference`, up to `current` where it is off by more than `threshold`, within a strip. `differences`
/// begins with the strip's first pixel, has whole blocks and is 0: where a byte changes it becomes new minus old modulo
/// 256. What changes is added to `changes`, one for each block. Gives how many bytes changed, and the errors that are
/// left.
Summary compare_strip(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference, const Strip& strip,
                      int threshold, HostView<std::uint8_t> differences, std::span<BlockChanges> changes);

}  // namespace framewire::delta
