#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/part_set.hpp"
#include "framewire/delta/blocks/runs.hpp"
#include "framewire/delta/blocks/step_pixels.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

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
    std::uint32_t first;        ///< which of the block's magnitudes is the first one
};

/// Makes the differences of blocks in runs from their folded magnitudes.
class RunPartMaker {
public:
    /// `parts`: those of `changed`, in the order of coding. `folded`: their magnitudes, less than max_steps each.
    /// Writes their differences to `tile`, which has a whole block's pixels. False where a difference is too large.
    bool make(const BlockPlace& block, std::span<const RunPart> parts, PartSet changed, const std::uint8_t* folded,
              int threshold, HostView<std::uint8_t> tile);

    /// How many parts are made side by side: each turn of one waits for the turn before it.
    static constexpr std::size_t at_once = 2;
    /// A lane for each row of each of four channels, of which one is room to spare.
    static constexpr int lanes = 4 * part_side;
    /// What a row, or two turns, take in bytes: 16 for each of four channels.
    static constexpr std::size_t row_bytes = std::size_t{2} * lanes;
    using Rows = std::array<std::array<std::uint8_t, row_bytes>, part_side>;

    /// A part while it is made.
    struct Part {
        // Folded magnitudes and 1, or 0 where a pixel stays, and which way pixels go. Each row of a channel lies one
        // pixel further right than the one above it, each channel one further than the one before. Zeros beside them.
        alignas(64) Rows folded{}, ways{};
        // The same by two turns each, and then the magnitudes made of them.
        alignas(64) Rows by_turns, ways_by_turns;
        alignas(64) std::array<std::int16_t, lanes> last_turn{}, last_way{};  // the turn that rows have no room for
        // Of the pixels above, the first one last, and before them the corner.
        alignas(64) std::array<std::uint8_t, row_bytes> above{}, ways_above{};
        alignas(64) Rows made;  // the differences, as bytes
    };
    std::array<Part, at_once> being_made;

    // Between parts: of each channel the pixels above those of the next row of parts, and of each row of parts the
    // pixels to the left of its next part, and the one above those.
    using Pixels = std::array<std::array<std::uint8_t, block_side>, 3>;
    Pixels above, ways_above;
    struct Left {
        alignas(64) std::array<std::int16_t, lanes> magnitudes, ways;
        std::array<std::uint8_t, 3> corner, corner_way;
    };
    std::array<Left, parts_per_row> left;
    // What all these do, as bits: see run_parts_cpu.cpp.
    std::array<std::uint8_t, parts_per_row> above_does, above_end_does, left_does, corner_does;
};

}  // namespace framewire::delta
