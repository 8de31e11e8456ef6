#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/runs.hpp"
#include "framewire/delta/blocks/step_pixels.hpp"

#include <array>
#include <cstdint>

namespace framewire::delta {

/// What is read of a part of a block in runs before its magnitudes.
struct RunPart {
    /// Folded magnitudes have so much room before and behind them.
    static constexpr std::size_t padding = 8;

    int left, top, width, height;
    std::array<RunRow, part_side> rows;
    /// Of mixed rows each pixel's pattern.
    std::array<std::array<Pattern, part_side>, part_side> mixed;
    std::array<int, 3> counts;  ///< of magnitudes, of each channel in the order of coding
};

/// Makes the differences of a block's parts from their folded magnitudes, row by row: each is made or passed.
class RunPartMaker {
public:
    void begin_block();
    void begin_row();
    /// A part without changes.
    void pass(int column);
    /// `folded`: for each channel in the order of coding. False where a difference is too large.
    bool make(const RunPart& part, const std::array<const std::uint8_t*, 3>& folded, const BlockPlace& block,
              int threshold, HostView<std::uint8_t> differences);

    /// A lane for each row of each channel, and room for whole vectors. In how many turns all pass their pixels, and
    /// to spare.
    static constexpr int lanes = 4 * part_side, turns = 2 * part_side + 2;

    // What is there while a part is made. What is 0 at first and no part writes stays so.
    alignas(64) std::int16_t by_turn[turns][lanes] = {};
    alignas(64) std::int16_t above[turns][lanes] = {};  ///< the steps above the part, in lanes of its first row
    alignas(64) std::int16_t left[lanes] = {}, corner[lanes] = {};
    alignas(64) std::int16_t rows[3][part_side][part_side] = {};  ///< of each channel; before and after
    // Between parts: the steps above them, and to the left of those of the next one.
    alignas(64) std::int16_t last_rows[3][block_side] = {};
    std::int16_t corners[3] = {};
};

}  // namespace framewire::delta
