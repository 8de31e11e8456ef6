#pragma once

#include "framewire/core/view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace framewire {

/// Reference for tests and benchmarks: the formula with its sines, pixel by pixel.
inline void heatmap_reference(HostView<const std::uint8_t> in, HostView<const std::uint8_t> previous,
                              HostView<std::uint8_t> out) {
    constexpr double pi = 3.14159265358979323846;
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                int sum = 0;
                for (int channel = 0; channel < 3; ++channel) {
                    const auto at = x * shape.channels + channel % shape.channels;
                    sum += std::abs(in.row(frame, y)[at] - previous.row(frame, y)[at]);
                }
                const double f = sum / 765.0;
                const double colour[] = {std::sin(pi * f + pi / 2), std::sin(pi * f), std::sin(pi * f - pi / 2)};
                for (int channel = 0; channel < 3; ++channel)
                    out.row(frame, y)[x * 3 + channel] = static_cast<std::uint8_t>(
                        std::floor(std::min(std::max(255 * colour[channel], 0.0), 255.0) + 0.5));
            }
}

}  // namespace framewire
