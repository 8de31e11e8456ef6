#pragma once

#include "framewire/filters/pointwise/pixel.hpp"

namespace framewire {

/// Sum of the three channels' absolute differences: the index of the pixel's color in the table.
FRAMEWIRE_HOST_DEVICE inline int heat_of(Pixel now, Pixel before) {
#ifdef __CUDA_ARCH__
    return static_cast<int>(__vsadu4(now, before));
#else
    int sum = 0;
    for (int channel = 0; channel < 3; ++channel) {
        const int difference = channel_of(now, channel) - channel_of(before, channel);
        sum += difference < 0 ? -difference : difference;
    }
    return sum;
#endif
}

/// As heat_of(), from a pixel's changes alone: those numbered first to end - 1, each at one of the pixel's bytes. `now`
/// points to the pixel's current bytes. A single channel counts three times.
FRAMEWIRE_HOST_DEVICE inline int heat_of_changes(const std::uint8_t* now, const std::uint32_t* positions,
                                                 const std::uint8_t* differences, std::int64_t first, std::int64_t end,
                                                 int channels) {
    int sum = 0;
    for (auto index = first; index < end && index < first + channels; ++index) {
        const int value = now[positions[index] % static_cast<std::uint32_t>(channels)];
        const int difference = value - static_cast<std::uint8_t>(value - differences[index]);
        sum += difference < 0 ? -difference : difference;
    }
    return channels == 1 ? 3 * sum : sum;
}

}  // namespace framewire
