#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/runs.hpp"
#include "framewire/delta/blocks/step_planes.hpp"
#include "framewire/delta/entropy/symbols.hpp"

#include <array>
#include <cstdint>

namespace framewire::delta {

/// What a block in runs has of a part behind the symbols of its rows.
struct RunsPart {
    RunRow above;                        ///< the last row of the part above; becomes the part's own last one
    int pixels = 0, pixels_in_runs = 0;  ///< that change, and those of them not in mixed rows; added to
    /// Of each channel in the order of coding, the magnitudes' folded numbers, how many, and how far off they are in
    /// all. Whole vectors are stored.
    struct Channel {
        std::uint8_t folded[part_side * part_side + part_side];
        int count;
        std::uint32_t off;
    };
    std::array<Channel, 3> channels;
};
/// As add_part_entries(), but adds the symbols of rows of runs, and leaves the magnitudes in `part`.
void add_part_runs(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left, int top,
                   StepPlanes& planes, RunsPart& part, Symbols& symbols);

}  // namespace framewire::delta
