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

/// Contents of a sub-block in runs that precede the magnitudes in the stream.
struct RunPart {
    /// Folded magnitudes must have this many readable bytes before and after them.
    static constexpr std::size_t padding = 8;

    int left, top, width, height;        ///< position in the block and size, in pixels
    std::array<RunRow, part_side> rows;  ///< kinds and edges from the top; rows beyond `height` stay
    /// Patterns of the pixels of mixed rows.
    std::array<std::array<Pattern, part_side>, part_side> mixed;
    std::array<int, 3> counts;  ///< number of magnitudes per channel, in the order of coding
    std::uint32_t first;        ///< index of its first magnitude among those of the block
};

/// Reconstructs the differences of blocks in runs from their folded magnitudes. Large; keep one per thread. Not
/// thread-safe.
class RunPartMaker {
public:
    /// Reconstructs one block. `parts`: the sub-blocks in `changed`, in the order of coding. `folded`: all magnitudes
    /// of the block, each less than max_steps, with RunPart::padding bytes around them. Writes the differences of these
    /// sub-blocks to `tile`, which has 64x64 pixels. Returns false if a difference is too large for a byte.
    bool make(const BlockPlace& block, std::span<const RunPart> parts, PartSet changed, const std::uint8_t* folded,
              int threshold, HostView<std::uint8_t> tile);

    /// Two sub-blocks that do not depend on each other share vectors. There is a lane for each row of both and each of
    /// four channels, of which three are used at most.
    static constexpr std::size_t of_pair = 2, channel_lanes = of_pair * part_side, lanes = 4 * channel_lanes;
    /// One byte for each lane.
    using Lanes = std::array<std::uint8_t, lanes>;
    /// Rows of pixels: `channel_lanes` bytes per channel, the rows of the second sub-block after those of the first.
    using Rows = std::array<Lanes, channel_lanes>;

    /// Working memory of a pair.
    struct Pair {
        // Folded magnitudes plus 1, 0 where a pixel stays, and directions. Each row is skewed by one byte against the
        // row above it, and each channel by one byte against the previous one. The bytes beside the pixels are 0.
        alignas(64) Rows folded{}, ways{};
        // The same transposed to turns; then replaced by the magnitudes. The last turn does not fit into the rows.
        alignas(64) Rows by_turns, ways_by_turns;
        alignas(64) Lanes last_turn{}, last_ways{};
        // Pixels above each sub-block, beginning with the corner, and pixels to the left of both.
        alignas(64) std::array<Lanes, of_pair> above{}, ways_above{};
        alignas(64) Lanes left{}, ways_left{};
        alignas(64) Rows made;  // differences as bytes, in the layout of `folded`
    };
    /// Number of pairs and of sub-blocks computed together. Each turn waits for the one before it, so a second pair
    /// fills the gaps.
    static constexpr std::size_t most_pairs = 2, at_once = most_pairs * of_pair;
    std::array<Pair, most_pairs> pairs;

    // State between sub-blocks. Per channel: the row above the next row of sub-blocks. Per row of sub-blocks: the
    // column to the left of its next sub-block, and the corner above that column.
    using Pixels = std::array<std::array<std::uint8_t, block_side>, 3>;
    Pixels above, ways_above;
    /// Column to the left of a sub-block, and the pixel above that column.
    struct Left {
        std::array<std::array<std::uint8_t, part_side>, 3> magnitudes, ways;
        std::array<std::uint8_t, 3> corner, corner_way;
    };
    std::array<Left, parts_per_row> left;
    // Behaviours of the same pixels, as bits of run_layout::Does.
    std::array<std::uint8_t, parts_per_row> above_does, above_end_does, left_does, corner_does;
};

}  // namespace framewire::delta
