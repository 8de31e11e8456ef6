#pragma once

#include "framewire/core/rows/channel_rows.hpp"

#include <cstdint>

namespace framewire {

/// Row `y`, of `width` pixels of `channels` bytes each, 1 or 3, to where `rows` has it: the bytes of each channel
/// apart. No overlap. On the calling thread.
void split_channels(const std::uint8_t* row, int width, int channels, const ChannelRows& rows, int y);

}  // namespace framewire
