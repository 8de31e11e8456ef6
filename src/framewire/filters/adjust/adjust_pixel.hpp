#pragma once

#include "framewire/filters/adjust/adjust.hpp"
#include "framewire/filters/gray_input/gray_weights.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

namespace framewire {

/// Fractional bits of AdjustTerms::slope.
inline constexpr int adjust_slope_shift = 9;
/// The AdjustTerms::saturation that changes nothing.
inline constexpr int neutral_saturation = 256;

/// Applies gain, contrast and brightness to one channel value, 0..255.
FRAMEWIRE_HOST_DEVICE constexpr int adjust_level(int value, const AdjustTerms& terms) {
    return hold_to_byte(((value * terms.slope + (1 << (adjust_slope_shift - 1))) >> adjust_slope_shift) + terms.offset);
}

/// Applies saturation to one channel value, given the pixel's gray.
FRAMEWIRE_HOST_DEVICE constexpr int adjust_saturation(int value, int gray, const AdjustTerms& terms) {
    return hold_to_byte(gray + (((value - gray) * terms.saturation + 128) >> 8));
}

/// The whole formula on the host. Kernels use their own packed form (adjust.cuh).
constexpr Pixel adjust_pixel(Pixel pixel, const AdjustTerms& terms) {
    const int b = adjust_level(channel_of(pixel, 0), terms);
    const int g = adjust_level(channel_of(pixel, 1), terms);
    const int r = adjust_level(channel_of(pixel, 2), terms);
    if (terms.saturation == neutral_saturation)
        return pixel_of(static_cast<unsigned>(b), static_cast<unsigned>(g), static_cast<unsigned>(r));
    const auto weights = gray_weights(GrayMethod::weighted);
    const int gray = (weights.b * b + weights.g * g + weights.r * r + weights.rounding) >> gray_shift;
    return pixel_of(static_cast<unsigned>(adjust_saturation(b, gray, terms)),
                    static_cast<unsigned>(adjust_saturation(g, gray, terms)),
                    static_cast<unsigned>(adjust_saturation(r, gray, terms)));
}

}  // namespace framewire
