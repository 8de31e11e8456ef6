#pragma once

#include "framewire/filters/scale/scale_axis.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framewire {

/// The weights of an axis as vectors take them where neighbours see nearly the same pixels: those of a block of four
/// neighbours lie side by side, two taps of each, and so do the places of their pixels. Where an image shrinks to less
/// than half, or so, neighbours are too far from each other.
///
/// Blocks are in groups of eight, of 32 pixels of the result. Vectors of two blocks have one of a group's first half
/// and one of its second, so that packing their results leaves those in order. Behind the last pixel it is repeated.
struct ScaleBlocks {
    static constexpr int block_px = 4, group_px = 32, group_blocks = group_px / block_px;

    int pairs = 0;  ///< of taps
    /// Per block, in order: the first of the eight pixels that its four see with a pair of taps; two more for each pair
    /// that follows. Never negative; weights of pixels beyond the image are 0.
    std::vector<std::int32_t> first{};
    /// Per group, 4 times 32: for each two blocks the places, in bytes from `first`, of each pixel's two taps.
    std::vector<std::uint8_t> order{};
    /// Per group, 4 times `pairs` times 16: for each two blocks and each pair of taps the weights.
    std::vector<std::int16_t> weights{};

    bool empty() const { return pairs == 0; }
    int groups() const { return static_cast<int>(first.size()) / group_blocks; }
    /// The pixels that a group's vectors read, begin to end; some of them may be beyond the image.
    int group_begin(int group) const;
    int group_end(int group) const;
};

/// The blocks of an axis; none where neighbours are too far from each other.
ScaleBlocks scale_blocks(const ScaleAxis& axis);

}  // namespace framewire
