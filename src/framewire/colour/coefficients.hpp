#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/host_device.hpp"

#include <cstdint>

namespace framewire {

// Integer arithmetic of both conversions; docs/colour.md derives it. Samples and coefficients are signed 16-bit
// numbers. A product is (a * b) / 2^15, rounded, which is one instruction in every SIMD instruction set.
//
//     YUV to BGR:  samples at 15/16 bits  * coefficients -> 1/64 of a byte  -> shift, clamp
//     BGR to YUV:  bytes at 15 bits       * coefficients -> 1/128 of a byte -> shift, clamp

/// Returns (a * b + 2^14) >> 15.
FRAMEWIRE_HOST_DEVICE constexpr int rounded_product(int a, int b) { return (a * b + (1 << 14)) >> 15; }

/// Coefficients of the conversion from YUV. Results are in 1/64 of a byte.
struct FromYuvCoefficients {
    std::int16_t y;                   ///< factor of the luma sample, which is scaled to 15 bits
    std::int16_t y_offset;            ///< offset of black, plus half a byte for rounding
    std::int16_t b_u, g_u, g_v, r_v;  ///< factors of the signed chroma samples, which are scaled to 16 bits
};

/// Bits after the point of the results of the conversion from YUV.
inline constexpr int from_yuv_shift = 6;

/// Returns the coefficients for pictures with the given coding and 8 or 10 `bits` per sample.
FromYuvCoefficients from_yuv_coefficients(const YuvCoding& coding, int bits);

/// Coefficients of the conversion to YUV. Results are in 1/128 of a byte.
struct ToYuvCoefficients {
    std::int16_t y_b, y_g, y_r;  ///< their sum is `y_gray`
    std::int16_t u_b, u_g, u_r;  ///< their sum is 0
    std::int16_t v_b, v_g, v_r;  ///< their sum is 0
    std::int16_t y_offset;       ///< offset of black, plus half a byte for rounding
    std::int32_t y_gray;         ///< factor for images of one channel; 2^15, the identity, for full range
};

/// Bits after the point of the results of the conversion to YUV.
inline constexpr int to_yuv_shift = 7;
/// Half a byte, to round chroma; 128 is added after the shift.
inline constexpr int chroma_rounding = 1 << (to_yuv_shift - 1);

/// Returns the coefficients for pictures of 8 bits with the given coding.
ToYuvCoefficients to_yuv_coefficients(const YuvCoding& coding);

/// Scales a luma sample of `bits` bits to 15 bits.
FRAMEWIRE_HOST_DEVICE constexpr int luma_15(int value, int bits) { return value << (15 - bits); }

/// Returns the sample in a 16-bit word: its upper 10 bits if `upper_bits` is set, else its lower 10. Words
/// above 1023, which no decoder produces, count as 1023.
FRAMEWIRE_HOST_DEVICE constexpr int word_value(int word, bool upper_bits) {
    return upper_bits ? word >> 6 : word < 1023 ? word : 1023;
}

/// The two chroma samples (rows or columns) around a row or column of pixels, and their weights in quarters.
struct ChromaTaps {
    int first, second;  ///< indices, not yet clamped to the plane
    int first_weight, second_weight;
};

/// Returns the taps of pixel row or column `at`. `halved`: there is one sample per two pixels. `centred`: the
/// sample is sited between the two pixels, else on the first one.
FRAMEWIRE_HOST_DEVICE constexpr ChromaTaps chroma_taps(int at, bool halved, bool centred) {
    if (!halved) return {at, at, 4, 0};
    const int sample = at / 2;
    if (centred) return at % 2 ? ChromaTaps{sample, sample + 1, 3, 1} : ChromaTaps{sample - 1, sample, 1, 3};
    return at % 2 ? ChromaTaps{sample, sample + 1, 2, 2} : ChromaTaps{sample - 1, sample, 0, 4};
}

/// The pixels (rows or columns) that a chroma sample averages, and their weights in quarters: pixel `first`,
/// which may lie outside the picture, and the two after it.
struct PixelTaps {
    int first;
    int weights[3];
};

/// Returns the taps of chroma sample `sample`; the flags are those of chroma_taps().
FRAMEWIRE_HOST_DEVICE constexpr PixelTaps pixel_taps(int sample, bool halved, bool centred) {
    if (!halved) return {sample, {4, 0, 0}};
    if (centred) return {2 * sample, {2, 2, 0}};
    return {2 * sample - 1, {1, 2, 1}};
}

/// Returns `index` clamped to 0..count-1, which replicates the border.
FRAMEWIRE_HOST_DEVICE constexpr int held_index(int index, int count) {
    return index < 0 ? 0 : index < count ? index : count - 1;
}

/// Returns `value` clamped to 0..255.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t held_byte(int value) {
    return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace framewire
