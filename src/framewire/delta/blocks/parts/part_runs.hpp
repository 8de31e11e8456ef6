#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/runs.hpp"
#include "framewire/delta/blocks/step_planes.hpp"
#include "framewire/delta/entropy/symbols.hpp"

#include <array>
#include <cstdint>

namespace framewire::delta {

/// State and result of a sub-block of a block in runs, apart from the symbols of its rows.
struct RunsPart {
    RunRow above;  ///< in: the last row of the sub-block above; out: the last row of this one
    int pixels = 0,
        pixels_in_runs = 0;  ///< sums over sub-blocks: changed pixels, and those of them in rows that are not mixed
    /// Magnitudes of one channel. `folded` has room for a whole vector beyond the last one.
    struct Channel {
        std::uint8_t folded[part_side * part_side +
                            part_side];  ///< folded magnitudes of the pixels in which the channel changes
        int count;                       ///< how many
        std::uint32_t off;               ///< sum of their distances from the expected magnitudes
    };
    std::array<Channel, 3> channels;  ///< in the order of coding
};
/// Variant of add_part_entries() for blocks in runs: adds only the symbols of the sub-block's rows and stores the
/// magnitudes in `part`, because they come last in the block.
void add_part_runs(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left, int top,
                   StepPlanes& planes, RunsPart& part, Symbols& symbols);

}  // namespace framewire::delta
