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

    /// A pair of parts that do not hang on each other shares vectors: a lane for each row of each of both, of each of
    /// four channels, of which one is room to spare.
    static constexpr std::size_t of_pair = 2, channel_lanes = of_pair * part_side, lanes = 4 * channel_lanes;
    using Lanes = std::array<std::uint8_t, lanes>;
    /// Rows of pixels, a channel's in as many bytes as it has lanes; the second part's behind those of the first.
    using Rows = std::array<Lanes, channel_lanes>;

    /// Two parts while they are made.
    struct Pair {
        // Folded magnitudes and 1, or 0 where a pixel stays, and which way pixels go. Each row of a channel lies one
        // pixel further right than the one above it, each channel one further than the one before. Zeros beside them.
        alignas(64) Rows folded{}, ways{};
        // The same by turns, and then the magnitudes made of them. The last turn is one that rows have no room for.
        alignas(64) Rows by_turns, ways_by_turns;
        alignas(64) Lanes last_turn{}, last_ways{};
        // Of the pixels above each part the corner, and behind it those of its columns; and those to their left.
        alignas(64) std::array<Lanes, of_pair> above{}, ways_above{};
        alignas(64) Lanes left{}, ways_left{};
        alignas(64) Rows made;  // the differences, as bytes
    };
    /// As many at once: each turn waits for the one before it.
    static constexpr std::size_t most_pairs = 2, at_once = most_pairs * of_pair;
    std::array<Pair, most_pairs> pairs;

    // Between parts: of each channel the pixels above those of the next row of parts, and of each row of parts the
    // pixels to the left of its next part, and the one above those.
    using Pixels = std::array<std::array<std::uint8_t, block_side>, 3>;
    Pixels above, ways_above;
    struct Left {
        std::array<std::array<std::uint8_t, part_side>, 3> magnitudes, ways;
        std::array<std::uint8_t, 3> corner, corner_way;
    };
    std::array<Left, parts_per_row> left;
    // What all these do, as bits of run_layout::Does.
    std::array<std::uint8_t, parts_per_row> above_does, above_end_does, left_does, corner_does;
};

}  // namespace framewire::delta
