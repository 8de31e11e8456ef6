#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/compare.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/filters/noise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

// Reference implementations of filters whose result at a pixel depends only on the pixels at the same position.

namespace framewire {

/// Computes the formula in floating point, pixel by pixel, as the reference for tests and benchmarks.
inline void adjust_reference(const Adjustment& adjustment, HostView<const std::uint8_t> in,
                             HostView<std::uint8_t> out) {
    const auto hold = [](double value) { return std::min(std::max(value, 0.0), 255.0); };
    const double slope = std::round(512 * adjustment.gain * adjustment.contrast) / 512;
    const double offset = std::round(adjustment.brightness + 128 * (1 - adjustment.contrast));
    const double saturation = std::round(256 * adjustment.saturation) / 256;
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const auto* pixel = in.row(frame, y) + x * shape.channels;
                auto* result = out.row(frame, y) + x * shape.channels;
                double levels[3] = {};
                for (int channel = 0; channel < shape.channels; ++channel)
                    levels[channel] = hold(std::floor(pixel[channel] * slope + 0.5) + offset);
                const double gray = std::floor((3735 * levels[0] + 19235 * levels[1] + 9798 * levels[2]) / 32768 + 0.5);
                for (int channel = 0; channel < shape.channels; ++channel)
                    result[channel] = static_cast<std::uint8_t>(
                        shape.channels == 1 ? levels[0]
                                            : hold(gray + std::floor((levels[channel] - gray) * saturation + 0.5)));
            }
}

/// Computes the definition pixel by pixel, as the reference for tests.
inline void compare_reference(const CompareParameters& parameters, HostView<const std::uint8_t> in,
                              HostView<const std::uint8_t> original, HostView<std::uint8_t> out) {
    const auto mode = parameters.mode;
    const auto &mine = in.shape(), &first = original.shape();
    for (int frame = 0; frame < out.shape().frames; ++frame)
        for (int y = 0; y < out.shape().height; ++y)
            for (int x = 0; x < out.shape().width; ++x) {
                // Position of the pixel in each of the two images; outside the bounds of an image that it does not
                // belong to.
                const int in_x = mode == CompareMode::left ? x - first.width : x;
                const int in_y = mode == CompareMode::above ? y - first.height : y;
                const int original_x = mode == CompareMode::right ? x - mine.width : x;
                const int original_y = mode == CompareMode::below ? y - mine.height : y;
                const bool is_of_in = in_x >= 0 && in_x < mine.width && in_y >= 0 && in_y < mine.height;
                bool is_of_original =
                    original_x >= 0 && original_x < first.width && original_y >= 0 && original_y < first.height;
                if (mode == CompareMode::split) is_of_original = x < first.width * parameters.at_percent / 100;
                for (int channel = 0; channel < out.shape().channels; ++channel) {
                    auto& to = out.row(frame, y)[x * out.shape().channels + channel];
                    to = 0;
                    if (is_of_original)
                        to = original.row(
                            frame, original_y)[original_x * first.channels + std::min(channel, first.channels - 1)];
                    else if (is_of_in)
                        to = in.row(frame, in_y)[in_x * mine.channels + std::min(channel, mine.channels - 1)];
                }
            }
}

/// Computes the formula pixel by pixel, as the reference for tests and benchmarks.
inline void gray_reference(GrayMethod method, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const auto* pixel = in.row(frame, y) + x * shape.channels;
                int gray = pixel[0];
                if (shape.channels == 3)
                    gray = method == GrayMethod::weighted
                               ? (3735 * pixel[0] + 19235 * pixel[1] + 9798 * pixel[2] + 16384) / 32768
                               : (pixel[0] + pixel[1] + pixel[2]) / 3;
                for (int channel = 0; channel < out.shape().channels; ++channel)
                    out.row(frame, y)[x * out.shape().channels + channel] = static_cast<std::uint8_t>(gray);
            }
}

/// Computes the formula with its sines, pixel by pixel, as the reference for tests and benchmarks.
inline void heatmap_reference(HostView<const std::uint8_t> in, HostView<const std::uint8_t> previous,
                              HostView<std::uint8_t> out) {
    constexpr double pi = 3.14159265358979323846;
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                int sum = 0;
                for (int channel = 0; channel < 3; ++channel) {
                    const auto at = x * shape.channels + channel % shape.channels;
                    sum += std::abs(in.row(frame, y)[at] - previous.row(frame, y)[at]);
                }
                const double f = sum / 765.0;
                const double colour[] = {std::sin(pi * f + pi / 2), std::sin(pi * f), std::sin(pi * f - pi / 2)};
                for (int channel = 0; channel < 3; ++channel)
                    out.row(frame, y)[x * 3 + channel] = static_cast<std::uint8_t>(
                        std::floor(std::min(std::max(255 * colour[channel], 0.0), 255.0) + 0.5));
            }
}

/// Computes the formula pixel by pixel, as the reference for tests and benchmarks.
inline void noise_reference(const NoiseParameters& parameters, HostView<const std::uint8_t> in,
                            HostView<const std::uint8_t> previous, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const auto* now = in.row(frame, y) + x * shape.channels;
                const auto* before = previous.row(frame, y) + x * shape.channels;
                auto* result = out.row(frame, y) + x * 3;
                bool noisy = false;
                for (int channel = 0; channel < 3; ++channel) {
                    const int at = channel % shape.channels;
                    noisy = noisy || std::abs(now[at] - before[at]) > parameters.threshold;
                    result[channel] = parameters.mode == NoiseMode::overlay
                                          ? (parameters.base == NoiseBase::frame ? now : before)[at]
                                          : std::uint8_t{0};
                }
                if (noisy) result[2] = 255;
            }
}

}  // namespace framewire
