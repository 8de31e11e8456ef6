#pragma once

#include "framewire/filters/crop/crop.hpp"

#include <cstdint>

namespace framewire {

/// Reference for tests and benchmarks: the formula, pixel by pixel.
inline void crop_reference(const CropParameters& part, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const int channels = in.shape().channels;
    for (int frame = 0; frame < in.shape().frames; ++frame)
        for (int y = 0; y < part.height; ++y)
            for (int x = 0; x < part.width; ++x)
                for (int channel = 0; channel < channels; ++channel)
                    out.row(frame, y)[x * channels + channel] =
                        in.row(frame, part.y + y)[(part.x + x) * channels + channel];
}

}  // namespace framewire
