#pragma once

#include "framewire/delta/plain/symbols.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

// Section "A pixel" of format.md.
namespace framewire::delta::plain {

/// Pattern and steps of a pixel.
struct Pixel {
    int pattern = 0;
    std::array<int, 3> steps{};
};

/// Pixels of a block. Those that are not coded yet or lie outside have no pattern and no steps.
struct Pixels {
    Area block;
    std::array<std::array<Pixel, block_side>, block_side> coded{};

    /// Returns a pixel.
    Pixel at(int x, int y) const {
        const bool inside = x >= 0 && y >= 0 && x < block.width && y < block.height;
        return inside ? coded[std::size_t(y)][std::size_t(x)] : Pixel{};
    }
};

/// Returns the direction of a channel in a pattern: 0 stays, 1 up, 2 down.
inline int channel_of(int pattern, int channel) {
    const int power[] = {1, 3, 9};
    return pattern / power[channel] % 3;
}

/// Returns E of the specification.
inline int extent(int pattern) {
    if (pattern == 0) return 0;
    return channel_of(pattern, 0) && channel_of(pattern, 1) && channel_of(pattern, 2) ? 2 : 1;
}

/// Returns D of the specification.
inline int direction(int pattern) {
    bool up = false, down = false;
    for (int c = 0; c < 3; ++c) {
        up |= channel_of(pattern, c) == 1;
        down |= channel_of(pattern, c) == 2;
    }
    return up + 2 * down;
}

/// Expected magnitude e and support u.
struct Expected {
    int e, u;
};

/// Returns the expectation for `channel` at (x, y), whose step has the sign `sign`. `last` is the channel of this pixel
/// that was coded before it, or -1.
inline Expected expect(const Pixels& pixels, const Pixel& now, int x, int y, int channel, int sign, int last) {
    const auto steps = [&](const Pixel& pixel, int of) { return pixel.steps[std::size_t(of)] * sign; };
    const auto left = pixels.at(x - 1, y), above = pixels.at(x, y - 1), corner = pixels.at(x - 1, y - 1);
    const int l = steps(left, channel), a = steps(above, channel), c = steps(corner, channel);
    if (const int b = last < 0 ? 0 : steps(now, last); b > 0) {
        const int other_l = steps(left, last), other_a = steps(above, last);
        const bool left_counts = l > 0 && other_l > 0, above_counts = a > 0 && other_a > 0;
        const int left_says = l - other_l, above_says = a - other_a;
        Expected found{b, 4};
        if (left_counts && above_counts) {
            const int apart = std::abs(left_says - above_says);
            found = {b + (left_says + above_says) / 2, apart < 3 ? 0 : apart < 8 ? 1 : 2};
        } else if (left_counts || above_counts) {
            found = {b + (left_counts ? left_says : above_says), 3};
        }
        found.e = std::clamp(found.e, 1, 255);
        return found;
    }
    if (l > 0 && a > 0) {
        const int apart = std::abs(l - a);
        return {clamp_between(c > 0 ? l + a - c : (l + a) / 2, l, a), apart < 4 ? 5 : apart < 16 ? 6 : 7};
    }
    if (l > 0 || a > 0) return {std::max(l, a), 8};
    return {1, 9};
}

/// Returns the magnitude for a number f and the expected magnitude e.
inline int magnitude_of(int f, int e) {
    const int b = e - 1;
    if (f > 2 * b) return e + f - b;
    return f % 2 ? e + (f + 1) / 2 : e - f / 2;
}

/// Reads a magnitude.
inline int read_magnitude(Symbols& symbols, const Model& model, int e) {
    int f = symbols.symbol(model);
    if (const int y = f; y >= 8) {
        const int n = (y - 8) / 2 + 2;
        f = ((2 + y % 2) << n) + symbols.bits(n);
    }
    return magnitude_of(f, e);
}

/// Context of a pixel that does not depend on its neighbours.
struct Setting {
    int by, slope;
    bool fine;
};

/// Reads the pattern of the pixel at (x, y) of the block; 0 if it does not change.
inline int read_pattern(Symbols& symbols, const StepModels& models, const Pixels& pixels, int x, int y, int channels,
                        const Setting& setting) {
    const int left = pixels.at(x - 1, y).pattern, above = pixels.at(x, y - 1).pattern;
    const int above_left = pixels.at(x - 1, y - 1).pattern, above_right = pixels.at(x + 1, y - 1).pattern;
    const bool second = pixels.at(x - 2, y).pattern || pixels.at(x, y - 2).pattern;
    const int changed = extent(left) + 3 * extent(above) + 9 * ((above_left != 0) + (above_right != 0)) + 27 * second +
                        54 * (4 * setting.by + setting.slope);
    if (!symbols.symbol(models.changed[std::size_t(changed)])) return 0;

    const int directions = direction(left ? left : above_left) + 4 * direction(above ? above : above_right) +
                           16 * (extent(left) == 2 || extent(above) == 2);
    constexpr int patterns[] = {13, 26, 2,  18, 1,  9,  6,  3,  24, 8, 12, 4,  16,
                                23, 17, 22, 25, 14, 20, 10, 15, 21, 7, 5,  19, 11};
    if (channels == 3) return patterns[symbols.symbol(models.pattern[std::size_t(directions)])];
    return symbols.symbol(models.sign[std::size_t(directions)]) ? 26 : 13;
}

/// Returns the channels in the order of coding.
inline std::vector<int> coded_channels(int channels) {
    if (channels == 1) return {0};
    return {1, 0, 2};
}

/// Sets the steps of a pixel. magnitude(channel, expected) returns the magnitude of each channel that changes.
template <class Magnitude>
void set_steps(Pixel& pixel, const Pixels& pixels, int x, int y, int channels, Magnitude&& magnitude) {
    int last = -1;
    for (const int channel : coded_channels(channels)) {
        const int way = channel_of(pixel.pattern, channel);
        if (way == 0) continue;
        const int sign = way == 1 ? 1 : -1;
        pixel.steps[std::size_t(channel)] = sign * magnitude(channel, expect(pixels, pixel, x, y, channel, sign, last));
        last = channel;
    }
}

/// Reads the pixel at (x, y) of the block.
inline Pixel read_pixel(Symbols& symbols, const StepModels& models, const Pixels& pixels, int x, int y, int channels,
                        const Setting& setting) {
    Pixel pixel{read_pattern(symbols, models, pixels, x, y, channels, setting)};
    set_steps(pixel, pixels, x, y, channels, [&](int channel, const Expected& expected) {
        const auto [e, u] = expected;
        const int size = e < 2 ? 0 : e < 12 ? 1 : 2;
        const bool first = channel == coded_channels(channels).front();
        return read_magnitude(symbols, models.magnitude[std::size_t(size + 3 * u + 30 * first + 60 * setting.fine)], e);
    });
    return pixel;
}

}  // namespace framewire::delta::plain
