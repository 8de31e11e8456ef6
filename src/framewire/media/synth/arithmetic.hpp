#pragma once

// Integer arithmetic of the synthetic camera. It gives the same results on every machine, independent of libm.

#include "framewire/core/host_device.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire::synth {

/// 64 well-mixed bits from a key (the finalizer of SplitMix64, Steele et al. 2014).
FRAMEWIRE_HOST_DEVICE constexpr std::uint64_t hash(std::uint64_t key) {
    key += 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

/// Hash of several keys.
template <class... Keys>
FRAMEWIRE_HOST_DEVICE constexpr std::uint64_t hash(std::uint64_t first, std::uint64_t second, Keys... others) {
    return hash(hash(first) ^ second, static_cast<std::uint64_t>(others)...);
}

/// Pseudo-random number from 0 to count - 1, from a hash.
constexpr std::int64_t pick(std::uint64_t key, std::int64_t count) {
    return static_cast<std::int64_t>((key >> 33) % static_cast<std::uint64_t>(count));
}

/// Quotient rounded towards negative infinity; the divisor must be positive.
constexpr std::int64_t floor_divide(std::int64_t numerator, std::int64_t divisor) {
    const auto quotient = numerator / divisor;
    return numerator % divisor < 0 ? quotient - 1 : quotient;
}

/// Integer square root, rounded down; 0 for negative values. Exact below 2^62.
constexpr std::int64_t square_root(std::int64_t value) {
    if (value <= 0) return 0;
    std::int64_t root = 0;
    for (std::int64_t bit = std::int64_t{1} << 30; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= value) root += bit;
    return root;
}

/// 4096 * sin(turn), where a full turn is 65536, within 0.2 % (Bhaskara I's rational approximation).
constexpr std::int64_t sine(std::int64_t turn) {
    const std::int64_t phase = turn & 0xffff;
    const std::int64_t half = phase & 0x7fff;
    const std::int64_t product = half * (0x8000 - half);  // 0 to 2^28
    const std::int64_t value = 4096 * 4 * product / ((std::int64_t{5} << 28) - product);
    return phase & 0x8000 ? -value : value;
}

/// Value noise from 0 to 255: random values on a grid of cell_x by cell_y, smoothly interpolated.
inline std::int64_t smooth_noise(std::uint64_t seed, std::int64_t x, std::int64_t y, std::int64_t cell_x,
                                 std::int64_t cell_y) {
    const auto column = floor_divide(x, cell_x);
    const auto row = floor_divide(y, cell_y);
    const auto ease = [](std::int64_t part, std::int64_t whole) {
        const auto t = part * 256 / whole;
        return t * t * (768 - 2 * t) >> 16;  // 3 t^2 - 2 t^3
    };
    const auto across = ease(x - column * cell_x, cell_x);
    const auto down = ease(y - row * cell_y, cell_y);
    const auto corner = [&](std::int64_t dx, std::int64_t dy) {
        return static_cast<std::int64_t>(
            hash(seed, static_cast<std::uint64_t>(column + dx), static_cast<std::uint64_t>(row + dy)) >> 56);
    };
    const auto upper = corner(0, 0) * (256 - across) + corner(1, 0) * across;
    const auto lower = corner(0, 1) * (256 - across) + corner(1, 1) * across;
    return (upper * (256 - down) + lower * down) >> 16;
}

/// Colour with 8-bit B, G, R and headroom for intermediate values.
struct Colour {
    std::int64_t b = 0;
    std::int64_t g = 0;
    std::int64_t r = 0;

    /// The colour scaled by `level` / 256.
    constexpr Colour lit(std::int64_t level) const { return {b * level >> 8, g * level >> 8, r * level >> 8}; }
    constexpr Colour operator+(const Colour& other) const { return {b + other.b, g + other.g, r + other.r}; }
};

/// Linear interpolation from `from` (share 0) to `to` (share 256).
constexpr Colour mix(const Colour& from, const Colour& to, std::int64_t share) {
    return {from.b + ((to.b - from.b) * share >> 8), from.g + ((to.g - from.g) * share >> 8),
            from.r + ((to.r - from.r) * share >> 8)};
}

constexpr Colour rgb(int r, int g, int b) { return {b, g, r}; }

/// Clamps to 0..255.
constexpr std::uint8_t to_byte(std::int64_t value) {
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(value, 0, 255));
}

}  // namespace framewire::synth
