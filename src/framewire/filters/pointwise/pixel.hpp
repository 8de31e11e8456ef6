#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

namespace framewire {

/// A pixel as the per-pixel functions of pointwise filters see it, on both backends: B in the lowest byte, then G, then
/// R; the highest byte is 0. A gray pixel has its value in all three.
using Pixel = std::uint32_t;

/// Packs three channels, 0..255 each.
FRAMEWIRE_HOST_DEVICE constexpr Pixel pixel_of(std::uint32_t b, std::uint32_t g, std::uint32_t r) {
    return b | g << 8 | r << 16;
}

/// A pixel with three equal channels.
FRAMEWIRE_HOST_DEVICE constexpr Pixel gray_pixel(std::uint32_t value) { return value * 0x010101u; }

/// Channel 0 (B), 1 (G) or 2 (R) of a pixel.
FRAMEWIRE_HOST_DEVICE constexpr int channel_of(Pixel pixel, int channel) {
    return static_cast<int>(pixel >> (8 * channel) & 255u);
}

/// Clamps to 0..255.
FRAMEWIRE_HOST_DEVICE constexpr int hold_to_byte(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/// Reads a pixel with one or three channels.
inline Pixel load_pixel(const std::uint8_t* from, int channels) {
    return channels == 1 ? gray_pixel(from[0]) : pixel_of(from[0], from[1], from[2]);
}

/// Writes the first `channels` channels of a pixel.
inline void store_pixel(Pixel pixel, int channels, std::uint8_t* to) {
    for (int channel = 0; channel < channels; ++channel)
        to[channel] = static_cast<std::uint8_t>(pixel >> (8 * channel));
}

}  // namespace framewire
