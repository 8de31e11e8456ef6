#pragma once

#include "framewire/filters/scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace framewire {

/// Reference for columns, then rows, with any number type, pixel by pixel. `taps_of(down, index)` returns ExactTaps or
/// the like for a row of the result (`down`) or for a pixel along it.
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

/// Reference for tests and benchmarks: the fixed-point formula.
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

/// The definition, in float64 throughout.
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
