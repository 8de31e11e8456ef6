#pragma once

#include "framewire/filters/gray.hpp"

#include <cstdint>

namespace framewire {

/// Reference for tests and benchmarks: the formula, pixel by pixel.
inline void gray_reference(GrayMethod method, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const auto* pixel = in.row(frame, y) + x * shape.channels;
                int gray = pixel[0];
                if (shape.channels == 3)
                    gray = method == GrayMethod::weighted
                               ? (3735 * pixel[0] + 19235 * pixel[1] + 9798 * pixel[2] + 16384) / 32768
                               : (pixel[0] + pixel[1] + pixel[2]) / 3;
                for (int channel = 0; channel < out.shape().channels; ++channel)
                    out.row(frame, y)[x * out.shape().channels + channel] = static_cast<std::uint8_t>(gray);
            }
}

}  // namespace framewire
