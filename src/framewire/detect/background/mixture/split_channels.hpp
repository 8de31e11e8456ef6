#pragma once

#include "framewire/core/rows/channel_rows.hpp"

#include <cstdint>

namespace framewire {

/// Writes row `y`, `width` pixels of 1 or 3 `channels`, to `rows` in planar order, on the calling thread. No
/// overlap.
void split_channels(const std::uint8_t* row, int width, int channels, const ChannelRows& rows, int y);

}  // namespace framewire
