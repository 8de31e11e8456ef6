#pragma once

#include "framewire/filters/pad/pad.hpp"

#include <cstdint>

namespace framewire {

/// Reference for tests and benchmarks: the formula, pixel by pixel.
inline void pad_reference(const PadParameters& pad, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < pad.height; ++y)
            for (int x = 0; x < pad.width; ++x) {
                const bool inside = x >= pad.x && x < pad.x + shape.width && y >= pad.y && y < pad.y + shape.height;
                for (int channel = 0; channel < shape.channels; ++channel)
                    out.row(frame, y)[x * shape.channels + channel] =
                        inside ? in.row(frame, y - pad.y)[(x - pad.x) * shape.channels + channel]
                               : static_cast<std::uint8_t>(channel_of(pad.color, channel));
            }
}

}  // namespace framewire
