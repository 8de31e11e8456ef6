#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/filters/binarize.hpp"
#include "framewire/filters/gray_input.hpp"
#include "framewire/filters/pointwise_ref.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace framewire {

/// Returns the gray value of a pixel, computed by division instead of a shift.
inline int gray_at(HostView<const std::uint8_t> image, int frame, int y, int x) {
    const auto* pixel = image.row(frame, y) + x * image.shape().channels;
    if (image.shape().channels == 1) return pixel[0];
    return (3735 * pixel[0] + 19235 * pixel[1] + 9798 * pixel[2] + 16384) / 32768;
}

/// Reference for Binarize: applies the threshold that `choose` returns for each frame's histogram, pixel by pixel.
inline void binarize_reference(const std::function<int(const Histogram&)>& choose, HostView<const std::uint8_t> in,
                               HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    for (int frame = 0; frame < shape.frames; ++frame) {
        Histogram histogram{};
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) ++histogram[static_cast<std::size_t>(gray_at(in, frame, y, x))];
        const int threshold = choose(histogram);
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                for (int channel = 0; channel < shape.channels; ++channel)
                    out.row(frame, y)[x * shape.channels + channel] = gray_at(in, frame, y, x) > threshold ? 255 : 0;
    }
}

/// Reference for Sauvola: the formula with a full sum over every window.
inline void sauvola_reference(const SauvolaParameters& parameters, HostView<const std::uint8_t> in,
                              HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int radius = parameters.window / 2;
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                int count = 0, sum = 0, squares = 0;
                for (int v = std::max(y - radius, 0); v <= std::min(y + radius, shape.height - 1); ++v)
                    for (int u = std::max(x - radius, 0); u <= std::min(x + radius, shape.width - 1); ++u) {
                        const int value = gray_at(in, frame, v, u) - 128;
                        ++count;
                        sum += value;
                        squares += value * value;
                    }
                const auto pixels = static_cast<float>(count);
                const float mean = static_cast<float>(sum) / pixels;
                const float square_of_mean = mean * mean;
                const float variance = std::max(static_cast<float>(squares) / pixels - square_of_mean, 0.0f);
                const float contrast = std::sqrt(variance) / 128 - 1;
                const float weighted = static_cast<float>(parameters.k) * contrast;
                const float threshold = (mean + 128) * (1 + weighted);
                const bool white = static_cast<float>(gray_at(in, frame, y, x)) > threshold;
                for (int channel = 0; channel < shape.channels; ++channel)
                    out.row(frame, y)[x * shape.channels + channel] = white ? 255 : 0;
            }
}

/// Reference for ink_threshold(): sorts all pixels above Otsu's threshold.
inline int ink_threshold_reference(const Histogram& histogram) {
    const int otsu = otsu_threshold(histogram);
    std::vector<int> paper;
    for (int bin = otsu + 1; bin < 256; ++bin) paper.insert(paper.end(), histogram[static_cast<std::size_t>(bin)], bin);
    if (paper.empty()) return otsu;
    const int q1 = paper[paper.size() / 4], median = paper[paper.size() / 2], q3 = paper[3 * paper.size() / 4];
    const int range = std::max(q3 - q1, 2 * (median - q1));
    if (median - otsu >= std::max(8.0, 1.5 * range)) return otsu;
    return std::max(0, median - std::max(24, 6 * range));
}

}  // namespace framewire
