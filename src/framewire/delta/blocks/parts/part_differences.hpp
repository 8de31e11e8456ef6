#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// The differences of a part at (x, y) of its block.
struct PartDifferences {
    const std::uint8_t* first;
    std::ptrdiff_t row_stride;
    int channels, width, height, threshold, x, y;
};

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

/// Room for the entries of a part; whole vectors are stored.
inline std::size_t most_part_entries(int channels) {
    return static_cast<std::size_t>(part_side * part_side * (2 + 2 * channels) + part_side);
}

}  // namespace framewire::delta
