#pragma once

#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Reference implementation: the median of a mask of 0 and 255, pixel by pixel. Tests and benchmarks compare
/// with it. Both images have one channel and the same shape.
inline void mask_median_reference(int size_px, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int radius = size_px / 2;
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                int set = 0;
                for (int v = y - radius; v <= y + radius; ++v)
                    for (int u = x - radius; u <= x + radius; ++u)
                        set +=
                            in.row(frame, std::clamp(v, 0, shape.height - 1))[std::clamp(u, 0, shape.width - 1)] != 0;
                out.row(frame, y)[x] = 2 * set > size_px * size_px ? 255 : 0;
            }
}

}  // namespace framewire
