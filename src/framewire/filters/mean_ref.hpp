#pragma once

#include "framewire/filters/mean.hpp"
#include "framewire/filters/window.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// Reference for tests and benchmarks: the formula, pixel by pixel, with window sums from a summed-area table over the
/// image and its border.
inline void mean_reference(MeanParameters parameters, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int size = parameters.size, pixels = size * size;
    const int before = window_reach(size).before;
    const auto columns = static_cast<std::size_t>(shape.width + size);
    std::vector<std::int64_t> table(columns * static_cast<std::size_t>(shape.height + size));
    const auto above_left = [&](int y, int x) -> std::int64_t& {
        return table[static_cast<std::size_t>(y) * columns + static_cast<std::size_t>(x)];
    };
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int channel = 0; channel < shape.channels; ++channel) {
            for (int y = 0; y < shape.height + size - 1; ++y) {
                const int from_y = border_index(y - before, shape.height, parameters.border);
                std::int64_t row_sum = 0;
                for (int x = 0; x < shape.width + size - 1; ++x) {
                    const int from_x = border_index(x - before, shape.width, parameters.border);
                    if (from_y >= 0 && from_x >= 0) row_sum += in.row(frame, from_y)[from_x * shape.channels + channel];
                    above_left(y + 1, x + 1) = above_left(y, x + 1) + row_sum;
                }
            }
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) {
                    const auto sum = above_left(y + size, x + size) - above_left(y, x + size) -
                                     above_left(y + size, x) + above_left(y, x);
                    out.row(frame, y)[x * shape.channels + channel] =
                        static_cast<std::uint8_t>((sum + pixels / 2) / pixels);
                }
        }
}

}  // namespace framewire
