#pragma once

#include "framewire/filters/scale/scale_axis.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framewire {

/// The weights of an axis, arranged for vectors, for axes on which neighbouring pixels read nearly the same source
/// pixels. Weights of a block of four neighbouring pixels are stored together, two taps of each, and so are the
/// positions of their source pixels. If an image shrinks to about less than half, neighbours are too far apart for
/// this.
///
/// Blocks form groups of eight, 32 pixels of the result:
///
///   vector v of a group (v = 0 .. 3) holds blocks v and v + 4
///
/// so that packing the results leaves them in order. The last pixel is repeated to fill the last group.
struct ScaleBlocks {
    /// Pixels per block and per group, and blocks per group.
    static constexpr int block_px = 4, group_px = 32, group_blocks = group_px / block_px;

    int pairs = 0;  ///< pairs of taps
    /// Per block: the first of the eight source pixels that its four pixels read with one pair of taps; each further
    /// pair starts two pixels later. Never negative. Source pixels beyond the image have weight 0.
    std::vector<std::int32_t> first{};
    /// Per group, 4 x 32 bytes: for each vector, the positions of each pixel's two taps, in bytes from the block's
    /// `first`.
    std::vector<std::uint8_t> order{};
    /// Per group, 4 x `pairs` x 16 numbers: for each vector and pair of taps, the weights.
    std::vector<std::int16_t> weights{};

    /// Returns true if the axis has no blocks.
    bool empty() const { return pairs == 0; }
    /// Number of groups.
    int groups() const { return static_cast<int>(first.size()) / group_blocks; }
    /// First source pixel that a group's vectors read.
    int group_begin(int group) const;
    /// End of the source pixels that a group's vectors read; may lie beyond the image.
    int group_end(int group) const;
};

/// Arranges the weights of an axis. The result is empty if neighbours are too far apart.
ScaleBlocks scale_blocks(const ScaleAxis& axis);

}  // namespace framewire
