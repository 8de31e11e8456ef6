#pragma once

#include "framewire/filters/geometry.hpp"

#include <cstdint>

namespace framewire {

/// Reference for tests and benchmarks: the formula, pixel by pixel.
inline void crop_reference(const CropParameters& part, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const int channels = in.shape().channels;
    for (int frame = 0; frame < in.shape().frames; ++frame)
        for (int y = 0; y < part.height; ++y)
            for (int x = 0; x < part.width; ++x)
                for (int channel = 0; channel < channels; ++channel)
                    out.row(frame, y)[x * channels + channel] =
                        in.row(frame, part.y + y)[(part.x + x) * channels + channel];
}

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
