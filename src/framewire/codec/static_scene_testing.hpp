#pragma once

#include "framewire/core/view.hpp"
#include "kit/images.hpp"

#include <cstdint>

// A scene for tests of static regions.

namespace framewire::codec_testing {

/// Paints frame `number` of a noisy gradient that is static except for a stripe moving across it.
inline void paint_resting(HostView<std::uint8_t> image, int number) {
    const auto& shape = image.shape();
    kit::fill(image, kit::Fill::noise, static_cast<std::uint64_t>(number));
    for (int y = 0; y < shape.height; ++y)
        for (int i = 0; i < shape.row_bytes(); ++i)
            image.row(0, y)[i] = static_cast<std::uint8_t>(image.row(0, y)[i] % 12 + (y + i) % 200 +
                                                           ((i + 4 * number) % 500 < 40 ? 40 : 0));
}

}  // namespace framewire::codec_testing
