#pragma once

#include "framewire/filters/flip/flip.hpp"

#include <cstdint>

namespace framewire {

/// Reference for tests and benchmarks: the formula, pixel by pixel.
inline void flip_reference(const FlipParameters& flip, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const int from_x = flip.left_right ? shape.width - 1 - x : x;
                const int from_y = flip.top_bottom ? shape.height - 1 - y : y;
                for (int channel = 0; channel < shape.channels; ++channel)
                    out.row(frame, y)[x * shape.channels + channel] =
                        in.row(frame, from_y)[from_x * shape.channels + channel];
            }
}

}  // namespace framewire
