#pragma once

#include "framewire/filters/median.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire {

/// Reference for tests and benchmarks: the definition, by counting the values of a window that slides along each row.
inline void median_reference(const MedianParameters& parameters, HostView<const std::uint8_t> in,
                             HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int radius = parameters.size / 2, middle = parameters.size * parameters.size / 2;
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int channel = 0; channel < shape.channels; ++channel) {
                std::array<int, 256> counts{};
                const auto count_column = [&](int x, int times) {
                    const int from_x = border_index(x, shape.width, parameters.border);
                    for (int dy = -radius; dy <= radius; ++dy) {
                        const int from_y = border_index(y + dy, shape.height, parameters.border);
                        const bool black = from_x < 0 || from_y < 0;
                        counts[black ? 0 : in.row(frame, from_y)[from_x * shape.channels + channel]] += times;
                    }
                };
                for (int x = -radius; x < radius; ++x) count_column(x, 1);
                for (int x = 0; x < shape.width; ++x) {
                    count_column(x + radius, 1);
                    std::size_t median = 0;
                    for (int up_to = counts[0]; up_to <= middle; up_to += counts[median]) ++median;
                    out.row(frame, y)[x * shape.channels + channel] = static_cast<std::uint8_t>(median);
                    count_column(x - radius, -1);
                }
            }
}

}  // namespace framewire
