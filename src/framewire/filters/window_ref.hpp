#pragma once

#include "framewire/filters/convolve.hpp"
#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/mean.hpp"
#include "framewire/filters/median.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

// Reference implementations of filters that compute a pixel from a window around it.

namespace framewire {

/// Computes the formula in floating point, pixel by pixel, as the reference for tests and benchmarks.
inline void convolve_reference(const ConvolveParameters& parameters, HostView<const std::uint8_t> in,
                               HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int size = static_cast<int>(std::lround(std::sqrt(parameters.matrix.size())));
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                for (int channel = 0; channel < shape.channels; ++channel) {
                    double sum = 0;
                    for (int row = 0; row < size; ++row)
                        for (int column = 0; column < size; ++column) {
                            const int from_x = border_index(x + column - size / 2, shape.width, parameters.border);
                            const int from_y = border_index(y + row - size / 2, shape.height, parameters.border);
                            if (from_x < 0 || from_y < 0) continue;
                            sum += parameters.matrix[static_cast<std::size_t>(row * size + column)] *
                                   in.row(frame, from_y)[from_x * shape.channels + channel];
                        }
                    const double value = std::floor(sum / parameters.divisor + 0.5) + parameters.offset;
                    out.row(frame, y)[x * shape.channels + channel] =
                        static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
                }
}

/// Computes separable filters with any number type, rows first and then columns: out = after_columns(sum w *
/// after_rows(sum w * in)), pixel by pixel.
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

/// Computes the formula in float64 and rounds to nearest.
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

/// Computes the fixed-point arithmetic of all backends pixel by pixel, as the reference for tests and benchmarks.
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

/// Computes the formula pixel by pixel, as the reference for tests and benchmarks. Window sums come from a summed-area
/// table over the image and its border.
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

/// Computes the definition, as the reference for tests and benchmarks: counts the values of a window that slides along
/// each row.
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
