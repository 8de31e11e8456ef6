#pragma once

#include "framewire/filters/compare.hpp"

#include <algorithm>

namespace framewire {

/// Reference for tests: the definition, pixel by pixel.
inline void compare_reference(const CompareParameters& parameters, HostView<const std::uint8_t> in,
                              HostView<const std::uint8_t> original, HostView<std::uint8_t> out) {
    const auto mode = parameters.mode;
    const auto &mine = in.shape(), &first = original.shape();
    for (int frame = 0; frame < out.shape().frames; ++frame)
        for (int y = 0; y < out.shape().height; ++y)
            for (int x = 0; x < out.shape().width; ++x) {
                // Position of the pixel in each of the two images; outside their bounds if it belongs to neither.
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

}  // namespace framewire
