#pragma once

#include "framewire/filters/rotate.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace framewire {

/// Reference for rotations by 90, 180 and 270 degrees clockwise, pixel by pixel.
inline void quarter_turns_reference(int quarters, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto &from = in.shape(), &to = out.shape();
    for (int frame = 0; frame < to.frames; ++frame)
        for (int y = 0; y < from.height; ++y)
            for (int x = 0; x < from.width; ++x) {
                const int to_x = quarters == 1 ? from.height - 1 - y : quarters == 2 ? from.width - 1 - x : y;
                const int to_y = quarters == 1 ? x : quarters == 2 ? from.height - 1 - y : from.width - 1 - x;
                for (int channel = 0; channel < to.channels; ++channel)
                    out.row(frame, to_y)[to_x * to.channels + channel] = in.row(frame, y)[x * to.channels + channel];
            }
}

/// Sets each byte of a result to byte(x, y, at). at(x, y) is the image's byte at that position, or the border's.
template <class Byte>
void for_rotated(HostView<const std::uint8_t> in, HostView<std::uint8_t> out, Pixel color, Byte&& byte) {
    const auto &from = in.shape(), &to = out.shape();
    for (int frame = 0; frame < to.frames; ++frame)
        for (int y = 0; y < to.height; ++y)
            for (int x = 0; x < to.width; ++x)
                for (int channel = 0; channel < to.channels; ++channel) {
                    const auto at = [&](int from_x, int from_y) -> int {
                        if (from_x < 0 || from_x >= from.width || from_y < 0 || from_y >= from.height)
                            return channel_of(color, channel);
                        return in.row(frame, from_y)[from_x * to.channels + channel];
                    };
                    out.row(frame, y)[x * to.channels + channel] = static_cast<std::uint8_t>(byte(x, y, at));
                }
}

/// Reference for other angles: the fixed-point formula.
inline void rotate_reference(const RotateMap& map, Pixel color, HostView<const std::uint8_t> in,
                             HostView<std::uint8_t> out) {
    for_rotated(in, out, color, [&](int x, int y, auto&& at) {
        const auto along = rotate_place(map.start_x + x * map.step_x - y * map.step_y);
        const auto down = rotate_place(map.start_y + x * map.step_y + y * map.step_x);
        return rotate_blend(at(along.pixel, down.pixel), at(along.pixel + 1, down.pixel),
                            at(along.pixel, down.pixel + 1), at(along.pixel + 1, down.pixel + 1), along.behind,
                            down.behind);
    });
}

/// The definition in float64.
inline void rotate_formula(double degrees, Pixel color, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto &from = in.shape(), &to = out.shape();
    const double angle = degrees * std::numbers::pi / 180, cosine = std::cos(angle), sine = std::sin(angle);
    for_rotated(in, out, color, [&](int x, int y, auto&& at) {
        const double dx = x - (to.width - 1) / 2.0, dy = y - (to.height - 1) / 2.0;
        const double from_x = cosine * dx + sine * dy + (from.width - 1) / 2.0;
        const double from_y = cosine * dy - sine * dx + (from.height - 1) / 2.0;
        const double left = std::floor(from_x), top = std::floor(from_y), right = from_x - left, down = from_y - top;
        const int column = static_cast<int>(left), row = static_cast<int>(top);
        return std::floor((at(column, row) * (1 - right) + at(column + 1, row) * right) * (1 - down) +
                          (at(column, row + 1) * (1 - right) + at(column + 1, row + 1) * right) * down + 0.5);
    });
}

}  // namespace framewire
