#pragma once

#include "framewire/core/rows/image_rows.hpp"

#include <cstdint>
#include <functional>

namespace framewire {

/// Some rows of one image in host memory whose channels lie apart, as vectors want them: a row of each channel.
struct ChannelRows {
    std::uint8_t* data = nullptr;
    std::int64_t channel_stride = 0, row_stride = 0;  ///< in bytes
    RowRange range{};

    constexpr std::uint8_t* row(int y, int channel = 0) const {
        return data + (y - range.begin) * row_stride + channel * channel_stride;
    }
};

/// As MakeRows.
using MakeChannelRows = std::function<void(const ChannelRows& rows)>;

}  // namespace framewire
