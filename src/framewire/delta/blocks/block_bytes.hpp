#pragma once

#include "framewire/core/host_device.hpp"

#include <cstddef>

namespace framewire::delta {

// Upper bounds for the size of a coded block. A symbol takes at most 12 bits, because frequencies add up to 4096 and
// are at least 1.

/// Returns the maximum number of bytes per pixel: a flag, a pattern, and for each channel a magnitude symbol with 7 raw
/// bits. In runs, magnitudes have 8 raw bits, and rows and classes of sub-blocks take at most 2.1 bits per pixel;
/// rounding up to whole bytes leaves room for that.
FRAMEWIRE_HOST_DEVICE constexpr std::size_t max_pixel_bytes(int channels) {
    return static_cast<std::size_t>((2 * 12 + channels * (12 + 7) + 7) / 8);
}

/// Maximum number of bytes per block besides its pixels: 64 sub-blocks with a mode and a vector of at most 64 bits, and
/// 32 states.
inline constexpr std::size_t max_part_bytes = 768;

}  // namespace framewire::delta
