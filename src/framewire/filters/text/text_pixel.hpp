#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

namespace framewire {

/// round(value / 255), exact for 0..65025.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t divide_by_255(std::uint32_t value) {
    return (value + 128 + ((value + 128) >> 8)) >> 8;
}

/// Blends one channel with a color of that alpha.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t blend(std::uint32_t under, std::uint32_t color, std::uint32_t alpha) {
    return divide_by_255(under * (255 - alpha) + color * alpha);
}

}  // namespace framewire
