#pragma once

#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

// Scenes for tests of packed frames.
namespace framewire::delta::plain {

/// Returns a pseudorandom function of `number` that is the same on all machines: splitmix64 (Steele, Lea and Flood,
/// "Fast Splittable Pseudorandom Number Generators", 2014).
inline std::uint64_t scatter(std::uint64_t number) {
    number += 0x9E3779B97F4A7C15u;
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
    number = (number ^ number >> 27) * 0x94D049BB133111EBu;
    return number ^ number >> 31;
}

/// Draws frame `time` of a synthetic film: slopes that move slowly, a patterned box that moves 3 pixels to the right
/// and one down per frame, and noise of at most `noise` on each byte. The same arguments give the same bytes.
inline void film(HostView<std::uint8_t> to, int time, int noise, std::uint64_t seed) {
    const auto& shape = to.shape();
    const auto wave = [](int at) { return std::abs(at % 128 - 64); };
    for (int y = 0; y < shape.height; ++y)
        for (std::int64_t i = 0; i < shape.row_bytes(); ++i) {
            const int x = static_cast<int>(i / shape.channels), channel = static_cast<int>(i % shape.channels);
            const int in_x = x - shape.width / 5 - 3 * time, in_y = y - shape.height / 4 - time;
            const bool in_box = in_x >= 0 && in_y >= 0 && in_x < shape.width / 3 && in_y < shape.height / 2;
            int value = 60 + wave(2 * x + time) + wave(y) + 20 * channel;
            if (in_box) value = in_x / 5 % 2 == in_y / 7 % 2 ? 30 + 3 * in_x % 40 : 220 - 30 * channel;
            const auto random =
                scatter(seed + scatter(static_cast<std::uint64_t>((time * shape.height + y) * shape.row_bytes() + i)));
            if (noise > 0) value += static_cast<int>(random % static_cast<unsigned>(2 * noise + 1)) - noise;
            to.row(0, y)[i] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
        }
}

}  // namespace framewire::delta::plain
