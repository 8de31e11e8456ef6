#pragma once

#include "framewire/filters/gaussian.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace framewire {

/// Reference for separable filters, rows then columns, with any number type: out = after_columns(sum w * after_rows(sum
/// w * in)), pixel by pixel.
template <class Number, class AfterRows, class AfterColumns>
void separable_reference(const std::vector<Number>& weights, int before, Border border, HostView<const std::uint8_t> in,
                         HostView<std::uint8_t> out, AfterRows&& after_rows, AfterColumns&& after_columns) {
    const auto& shape = in.shape();
    const int taps = static_cast<int>(weights.size());
    std::vector<Number> rows(static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width));
    const auto at = [&](int y, int x) -> Number& {
        return rows[static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) + static_cast<std::size_t>(x)];
    };
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int channel = 0; channel < shape.channels; ++channel) {
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) {
                    Number sum{};
                    for (int tap = 0; tap < taps; ++tap) {
                        const int from = border_index(x + tap - before, shape.width, border);
                        if (from >= 0)
                            sum += weights[static_cast<std::size_t>(tap)] *
                                   static_cast<Number>(in.row(frame, y)[from * shape.channels + channel]);
                    }
                    at(y, x) = after_rows(sum);
                }
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) {
                    Number sum{};
                    for (int tap = 0; tap < taps; ++tap) {
                        const int from = border_index(y + tap - before, shape.height, border);
                        if (from >= 0) sum += weights[static_cast<std::size_t>(tap)] * at(from, x);
                    }
                    out.row(frame, y)[x * shape.channels + channel] = static_cast<std::uint8_t>(after_columns(sum));
                }
        }
}

/// The formula in float64, rounded to nearest.
inline void gaussian_formula(GaussianParameters parameters, HostView<const std::uint8_t> in,
                             HostView<std::uint8_t> out) {
    const double sigma = parameters.sigma == 0 ? default_gaussian_sigma(parameters.size) : parameters.sigma;
    std::vector<double> weights;
    double sum = 0;
    for (int tap = 0; tap < parameters.size; ++tap) {
        const double distance = tap - (parameters.size - 1) * 0.5;
        weights.push_back(std::exp(-distance * distance / (2 * sigma * sigma)));
        sum += weights.back();
    }
    for (auto& weight : weights) weight /= sum;
    separable_reference(
        weights, window_reach(parameters.size).before, parameters.border, in, out, [](double value) { return value; },
        [](double value) { return std::floor(value + 0.5); });
}

/// Reference for tests and benchmarks: the fixed-point arithmetic of all backends, pixel by pixel.
inline void gaussian_reference(GaussianParameters parameters, HostView<const std::uint8_t> in,
                               HostView<std::uint8_t> out) {
    const auto fixed = gaussian_weights(parameters.size, parameters.sigma, parameters.rounding);
    std::vector<std::int64_t> weights;
    for (int tap = 0; tap < fixed.taps; ++tap) {
        const int mirrored = fixed.taps - 1 - tap;
        weights.push_back(std::int64_t{fixed.folded[std::min(tap, mirrored)]} * (tap == mirrored ? 2 : 1));
    }
    const auto rounded = [](int shift) {
        return [shift](std::int64_t value) { return (value + (std::int64_t{1} << (shift - 1))) >> shift; };
    };
    separable_reference(weights, fixed.reach.before, parameters.border, in, out,
                        rounded(gaussian_row_shift(parameters.rounding)),
                        rounded(gaussian_column_shift(parameters.rounding)));
}

}  // namespace framewire
