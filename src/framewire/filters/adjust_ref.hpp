#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framewire {

/// Reference for tests and benchmarks: the formula in floating point, pixel by pixel.
inline void adjust_reference(const Adjustment& adjustment, HostView<const std::uint8_t> in,
                             HostView<std::uint8_t> out) {
    const auto hold = [](double value) { return std::min(std::max(value, 0.0), 255.0); };
    const double slope = std::round(512 * adjustment.gain * adjustment.contrast) / 512;
    const double offset = std::round(adjustment.brightness + 128 * (1 - adjustment.contrast));
    const double saturation = std::round(256 * adjustment.saturation) / 256;
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const auto* pixel = in.row(frame, y) + x * shape.channels;
                auto* result = out.row(frame, y) + x * shape.channels;
                double levels[3] = {};
                for (int channel = 0; channel < shape.channels; ++channel)
                    levels[channel] = hold(std::floor(pixel[channel] * slope + 0.5) + offset);
                const double gray = std::floor((3735 * levels[0] + 19235 * levels[1] + 9798 * levels[2]) / 32768 + 0.5);
                for (int channel = 0; channel < shape.channels; ++channel)
                    result[channel] = static_cast<std::uint8_t>(
                        shape.channels == 1 ? levels[0]
                                            : hold(gray + std::floor((levels[channel] - gray) * saturation + 0.5)));
            }
}

}  // namespace framewire
