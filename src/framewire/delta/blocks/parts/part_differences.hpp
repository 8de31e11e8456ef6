#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// View of the differences of one sub-block.
struct PartDifferences {
    const std::uint8_t* first;                     ///< first byte of the sub-block
    std::ptrdiff_t row_stride;                     ///< bytes between rows
    int channels, width, height, threshold, x, y;  ///< (x, y): its position in the block, in pixels
};

/// Makes the view of the sub-block at (left, top) of `block` from the differences of the whole frame.
inline PartDifferences part_of(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold,
                               int left, int top) {
    const int channels = differences.shape().channels;
    return {differences.row(0, block.y + top) + std::int64_t{block.x + left} * channels,
            differences.row_stride_bytes(),
            channels,
            std::min(part_side, block.width - left),
            std::min(part_side, block.height - top),
            threshold,
            left,
            top};
}

/// Returns the memory that the entries of a sub-block need, in entries. Includes one vector that may be stored beyond
/// the last one.
inline std::size_t most_part_entries(int channels) {
    return static_cast<std::size_t>(part_side * part_side * (2 + 2 * channels) + part_side);
}

}  // namespace framewire::delta
