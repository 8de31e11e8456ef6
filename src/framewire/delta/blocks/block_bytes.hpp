#pragma once

#include "framewire/core/host_device.hpp"

#include <cstddef>

namespace framewire::delta {

// The most bytes that coded blocks take: a symbol takes 12 bits at most.

/// Of a pixel: a flag, a pattern, and for each channel a magnitude with 7 bits behind it. In runs there are 8, and rows
/// and classes of parts take 2.1 bits per pixel at most: whole bytes have room for that.
FRAMEWIRE_HOST_DEVICE constexpr std::size_t max_pixel_bytes(int channels) {
    return static_cast<std::size_t>((2 * 12 + channels * (12 + 7) + 7) / 8);
}

/// Of a block besides: each of 64 parts has a mode and a vector, which take 64 bits, and there are 32 states.
inline constexpr std::size_t max_part_bytes = 768;

}  // namespace framewire::delta
