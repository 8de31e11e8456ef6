#pragma once

#include "framewire/filters/median/median.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire {

/// The definition, one pixel after the other: what tests and benches compare with.
inline void median_reference(const MedianParameters& parameters, HostView<const std::uint8_t> in,
                             HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int radius = parameters.size / 2;
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                for (int channel = 0; channel < shape.channels; ++channel) {
                    std::array<int, 256> counts{};
                    for (int dy = -radius; dy <= radius; ++dy)
                        for (int dx = -radius; dx <= radius; ++dx) {
                            const int from_y = border_index(y + dy, shape.height, parameters.border);
                            const int from_x = border_index(x + dx, shape.width, parameters.border);
                            ++counts[from_y < 0 || from_x < 0 ? 0 : in.row(frame, from_y)[from_x * shape.channels + channel]];
                        }
                    std::size_t median = 0;
                    for (int up_to = counts[0]; up_to <= parameters.size * parameters.size / 2; up_to += counts[median]) ++median;
                    out.row(frame, y)[x * shape.channels + channel] = static_cast<std::uint8_t>(median);
                }
}

}  // namespace framewire
