#pragma once

#include "framewire/filters/gray_ref.hpp"
#include "framewire/hog/pyramid.hpp"

#include <algorithm>
#include <cmath>

namespace framewire {

/// Reference implementation of one level, pixel by pixel, for tests. To get the same result where a place is
/// exactly between two multiples of 1/128 pixel, `scale` must be a multiple of 1/65536.
inline HostImage pyramid_level_reference(double scale, HostView<const std::uint8_t> frame) {
    HostImage octave(frame.shape().with_channels(1));
    gray_reference(GrayMethod::weighted, frame, octave.view());
    double rest = scale;
    for (; rest >= 2; rest /= 2) {
        HostImage half({1, octave.shape().height / 2, octave.shape().width / 2, 1});
        for (int y = 0; y < half.shape().height; ++y)
            for (int x = 0; x < half.shape().width; ++x) {
                const auto *upper = octave.view().row(0, 2 * y) + 2 * x,
                           *lower = octave.view().row(0, 2 * y + 1) + 2 * x;
                half.view().row(0, y)[x] =
                    static_cast<std::uint8_t>((upper[0] + upper[1] + lower[0] + lower[1] + 2) / 4);
            }
        octave = std::move(half);
    }
    const int height = octave.shape().height, width = octave.shape().width;
    // In 1/128 of a pixel.
    const auto place = [&](int i, int pixels) {
        return static_cast<int>(std::floor(std::clamp((i + 0.5) * rest - 0.5, 0.0, pixels - 1.0) * 128 + 0.5));
    };
    HostImage level(
        {1, static_cast<int>(frame.shape().height / scale), static_cast<int>(frame.shape().width / scale), 1});
    for (int y = 0; y < level.shape().height; ++y)
        for (int x = 0; x < level.shape().width; ++x) {
            const int down = place(y, height), across = place(x, width);
            const auto pixel = [&](int dy, int dx) {
                return int{octave.view().row(
                    0, std::min(down / 128 + dy, height - 1))[std::min(across / 128 + dx, width - 1)]};
            };
            const auto between = [&](int dx) {
                return pixel(0, dx) * (128 - down % 128) + pixel(1, dx) * (down % 128);
            };
            level.view().row(0, y)[x] = static_cast<std::uint8_t>(
                (between(0) * (128 - across % 128) + between(1) * (across % 128) + 8192) / 16384);
        }
    return level;
}

}  // namespace framewire
