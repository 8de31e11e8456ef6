#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/host_device.hpp"

#include <cstdint>

namespace framewire {

// The integer arithmetic of both conversions, as docs/colour.md has it. Samples and coefficients are signed numbers of
// 16 bits; a product is their product over 2^15, rounded: one instruction of every SIMD set.

/// (a * b + 2^14) >> 15.
FRAMEWIRE_HOST_DEVICE constexpr int rounded_product(int a, int b) { return (a * b + (1 << 14)) >> 15; }

/// From YUV: results are in 1/64 of a byte.
struct FromYuvCoefficients {
    std::int16_t y;                   ///< times the luma sample as 15 bits
    std::int16_t y_offset;            ///< black, and half a byte to round by
    std::int16_t b_u, g_u, g_v, r_v;  ///< times the signed chroma sample as 16 bits
};

inline constexpr int from_yuv_shift = 6;

FromYuvCoefficients from_yuv_coefficients(const YuvCoding& coding, int bits);

/// To YUV: results are in 1/128 of a byte.
struct ToYuvCoefficients {
    std::int16_t y_b, y_g, y_r;  ///< their sum is `y_gray`
    std::int16_t u_b, u_g, u_r;  ///< their sum is 0
    std::int16_t v_b, v_g, v_r;  ///< their sum is 0
    std::int16_t y_offset;       ///< black, and half a byte to round by
    std::int32_t y_gray;         ///< for images of one channel; 2^15, which a product leaves alone, for full range
};

inline constexpr int to_yuv_shift = 7;
/// Half a byte to round chroma by; 128 is added once it is rounded.
inline constexpr int chroma_rounding = 1 << (to_yuv_shift - 1);

ToYuvCoefficients to_yuv_coefficients(const YuvCoding& coding);

/// A luma sample as 15 bits: `value` has `bits` bits.
FRAMEWIRE_HOST_DEVICE constexpr int luma_15(int value, int bits) { return value << (15 - bits); }

/// The value of a sample of a word: words above 10 bits, which no decoder gives, count as the largest.
FRAMEWIRE_HOST_DEVICE constexpr int word_value(int word, bool upper_bits) {
    return upper_bits ? word >> 6 : word < 1023 ? word : 1023;
}

/// Chroma samples (rows or columns) between which a row or column of pixels lies, and their weights in quarters.
struct ChromaTaps {
    int first, second;  ///< not yet held to the plane
    int first_weight, second_weight;
};

/// For pixel row or column `at`: `halved` says that there is one sample for two, `centred` that it sits between them.
FRAMEWIRE_HOST_DEVICE constexpr ChromaTaps chroma_taps(int at, bool halved, bool centred) {
    if (!halved) return {at, at, 4, 0};
    const int sample = at / 2;
    if (centred) return at % 2 ? ChromaTaps{sample, sample + 1, 3, 1} : ChromaTaps{sample - 1, sample, 1, 3};
    return at % 2 ? ChromaTaps{sample, sample + 1, 2, 2} : ChromaTaps{sample - 1, sample, 0, 4};
}

/// Pixels (rows or columns) that a chroma sample is made from, and their weights in quarters: `first`, which may lie
/// outside the picture, and the two behind it.
struct PixelTaps {
    int first;
    int weights[3];
};

FRAMEWIRE_HOST_DEVICE constexpr PixelTaps pixel_taps(int sample, bool halved, bool centred) {
    if (!halved) return {sample, {4, 0, 0}};
    if (centred) return {2 * sample, {2, 2, 0}};
    return {2 * sample - 1, {1, 2, 1}};
}

/// `index` held to 0..count-1: borders are replicated.
FRAMEWIRE_HOST_DEVICE constexpr int held_index(int index, int count) {
    return index < 0 ? 0 : index < count ? index : count - 1;
}

FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t held_byte(int value) {
    return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace framewire
