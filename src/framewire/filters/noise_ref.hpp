#pragma once

#include "framewire/filters/noise.hpp"

#include <cstdint>
#include <cstdlib>

namespace framewire {

/// Reference for tests and benchmarks: the formula, pixel by pixel.
inline void noise_reference(const NoiseParameters& parameters, HostView<const std::uint8_t> in,
                            HostView<const std::uint8_t> previous, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const auto* now = in.row(frame, y) + x * shape.channels;
                const auto* before = previous.row(frame, y) + x * shape.channels;
                auto* result = out.row(frame, y) + x * 3;
                bool noisy = false;
                for (int channel = 0; channel < 3; ++channel) {
                    const int at = channel % shape.channels;
                    noisy = noisy || std::abs(now[at] - before[at]) > parameters.threshold;
                    result[channel] = parameters.mode == NoiseMode::overlay
                                          ? (parameters.base == NoiseBase::frame ? now : before)[at]
                                          : std::uint8_t{0};
                }
                if (noisy) result[2] = 255;
            }
}

}  // namespace framewire
