#pragma once

#include "framewire/filters/convolve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framewire {

/// Reference for tests and benchmarks: the formula in floating point, pixel by pixel.
inline void convolve_reference(const ConvolveParameters& parameters, HostView<const std::uint8_t> in,
                               HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int size = static_cast<int>(std::lround(std::sqrt(parameters.matrix.size())));
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                for (int channel = 0; channel < shape.channels; ++channel) {
                    double sum = 0;
                    for (int row = 0; row < size; ++row)
                        for (int column = 0; column < size; ++column) {
                            const int from_x = border_index(x + column - size / 2, shape.width, parameters.border);
                            const int from_y = border_index(y + row - size / 2, shape.height, parameters.border);
                            if (from_x < 0 || from_y < 0) continue;
                            sum += parameters.matrix[static_cast<std::size_t>(row * size + column)] *
                                   in.row(frame, from_y)[from_x * shape.channels + channel];
                        }
                    const double value = std::floor(sum / parameters.divisor + 0.5) + parameters.offset;
                    out.row(frame, y)[x * shape.channels + channel] =
                        static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
                }
}

}  // namespace framewire
