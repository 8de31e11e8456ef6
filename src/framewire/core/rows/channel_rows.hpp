#pragma once

#include "framewire/core/rows/image_rows.hpp"

#include <cstdint>
#include <functional>

namespace framewire {

/// Consecutive rows of one image in host memory with planar channels, the layout that vector code wants. Does not own.
/// Row `range.begin` of channel 0.
struct ChannelRows {
    std::uint8_t* data = nullptr;
    std::int64_t channel_stride = 0, row_stride = 0;  ///< in bytes
    RowRange range{};

    /// Returns row `y` of the image, which must be within `range`, for one channel.
    constexpr std::uint8_t* row(int y, int channel = 0) const {
        return data + (y - range.begin) * row_stride + channel * channel_stride;
    }
};

/// Like MakeRows, for planar channels.
using MakeChannelRows = std::function<void(const ChannelRows& rows)>;

}  // namespace framewire
