#pragma once

#include "framewire/filters/geometry.hpp"
#include "framewire/filters/rotate.hpp"
#include "framewire/filters/scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

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

/// Sets each byte of a result to byte(x, y, at). at(x, y) is the image's byte at that position, or the color's if the
/// position lies outside.
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

/// Reference for rotations by other angles: the fixed-point formula.
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

/// Definition of a rotation by any angle, in float64.
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

/// Reference for scaling columns and then rows, pixel by pixel, with any number type. `taps_of(down, index)` returns
/// ExactTaps or a similar type: for row `index` of the result if `down`, otherwise for column `index`.
template <class Number, class TapsOf, class AfterColumns, class AfterRows>
void scaled_reference(HostView<const std::uint8_t> in, HostView<std::uint8_t> out, TapsOf&& taps_of,
                      AfterColumns&& after_columns, AfterRows&& after_rows) {
    const auto &from = in.shape(), &to = out.shape();
    std::vector<decltype(taps_of(false, 0))> all_along;
    for (int x = 0; x < to.width; ++x) all_along.push_back(taps_of(false, x));
    for (int frame = 0; frame < to.frames; ++frame)
        for (int y = 0; y < to.height; ++y) {
            const auto down = taps_of(true, y);
            std::vector<Number> line(static_cast<std::size_t>(from.row_bytes()));
            for (std::size_t x = 0; x < line.size(); ++x) {
                Number sum{};
                for (std::size_t tap = 0; tap < down.weights.size(); ++tap)
                    if (down.weights[tap] != 0)
                        sum += down.weights[tap] *
                               static_cast<Number>(in.row(frame, down.first + static_cast<int>(tap))[x]);
                line[x] = after_columns(sum);
            }
            for (int x = 0; x < to.width; ++x) {
                const auto& along = all_along[static_cast<std::size_t>(x)];
                for (int channel = 0; channel < to.channels; ++channel) {
                    Number sum{};
                    for (std::size_t tap = 0; tap < along.weights.size(); ++tap)
                        if (along.weights[tap] != 0)
                            sum += along.weights[tap] * line[(static_cast<std::size_t>(along.first) + tap) *
                                                                 static_cast<std::size_t>(to.channels) +
                                                             static_cast<std::size_t>(channel)];
                    out.row(frame, y)[x * to.channels + channel] = after_rows(sum);
                }
            }
        }
}

/// Reference for scaling in tests and benchmarks: the fixed-point formula.
inline void scale_reference(ScaleMethod method, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    struct Taps {
        int first;
        std::vector<int> weights;
    };
    const auto &from = in.shape(), &to = out.shape();
    const auto columns = scale_axis(scale_taps(method, {from.height, to.height}), 1),
               rows = scale_axis(scale_taps(method, {from.width, to.width}), 1);
    const auto taps_of = [](const ScaleAxis& axis, int index) {
        const auto* weights = axis.weights_of(index);
        return Taps{axis.first[static_cast<std::size_t>(index)], {weights, weights + axis.taps}};
    };
    const auto floor_shift = [](int sum, int shift) { return (sum + (1 << (shift - 1))) >> shift; };
    scaled_reference<int>(
        in, out, [&](bool down, int index) { return taps_of(down ? columns : rows, index); },
        [&](int sum) { return std::clamp(floor_shift(sum, scale_column_shift), -32768, 32767); },
        [&](int sum) { return static_cast<std::uint8_t>(std::clamp(floor_shift(sum, scale_row_shift), 0, 255)); });
}

/// Definition of scaling, in float64 throughout.
inline void scale_formula(ScaleMethod method, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    scaled_reference<double>(
        in, out,
        [&](bool down, int index) {
            const auto &from = in.shape(), &to = out.shape();
            return exact_scale_taps(method, down ? ScaleGrid(from.height, to.height) : ScaleGrid(from.width, to.width),
                                    index);
        },
        [](double sum) { return sum; },
        [](double sum) { return static_cast<std::uint8_t>(std::clamp(std::floor(sum + 0.5), 0.0, 255.0)); });
}

}  // namespace framewire
