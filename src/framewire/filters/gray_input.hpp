#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>

// Gray value of a pixel, shared by every operation that starts from it.

namespace framewire {

/// How a gray value is computed.
enum class GrayMethod {
    weighted,  ///< (3735 B + 19235 G + 9798 R + 2^14) >> 15, OpenCV's BGR2GRAY byte for byte (ITU-R BT.601)
    average,   ///< floor((B + G + R) / 3), the streaming report's first method
};

/// Weights for gray = (b * B + g * G + r * R + rounding) >> 15. The formula is exact for both methods: `weighted` uses
/// OpenCV's own constants, and floor(s / 3) = (s * 10923) >> 15 for every s up to 765.
struct GrayWeights {
    /// Weights in units of 2^-15.
    std::int16_t b, g, r;
    /// Rounding term, which is added to the sum before the shift.
    std::int32_t rounding;
};

/// Right shift after the weighted sum.
inline constexpr int gray_shift = 15;

/// Returns the weights of a method.
constexpr GrayWeights gray_weights(GrayMethod method) {
    return method == GrayMethod::weighted ? GrayWeights{3735, 19235, 9798, 1 << (gray_shift - 1)}
                                          : GrayWeights{10923, 10923, 10923, 0};
}

/// Weights in the layout in which dp2a multiplies them by bytes: two per word, the first in the low half. They are
/// doubled, so that the gray value is byte 2 of the sum and no shift is needed.
struct SplitWeights {
    std::uint32_t bg, gr, r_none, none_b;  ///< pairs of weights; `none` is the weight 0
    std::uint32_t rounding;
};

/// Arranges the weights for dp2a.
inline SplitWeights split(const GrayWeights& weights) {
    const auto two = [](int first, int second) {
        return static_cast<std::uint32_t>(2 * first) | static_cast<std::uint32_t>(2 * second) << 16;
    };
    return {two(weights.b, weights.g), two(weights.g, weights.r), two(weights.r, 0), two(0, weights.b),
            static_cast<std::uint32_t>(2 * weights.rounding)};
}

/// Right shift for sums with the doubled weights.
inline constexpr int gray_sum_shift = gray_shift + 1;

/// Returns the gray value of one pixel. `pixel` holds b, g, r in its low bytes; its highest byte has weight 0. The
/// result is the same on host and device.
FRAMEWIRE_HOST_DEVICE inline std::uint32_t gray_of(std::uint32_t pixel, const SplitWeights& weights) {
#ifdef __CUDA_ARCH__
    return __dp2a_hi(weights.r_none, pixel, __dp2a_lo(weights.bg, pixel, weights.rounding)) >> gray_sum_shift;
#else
    const auto product = [](std::uint32_t two, std::uint32_t bytes) {
        return (two & 0xFFFFu) * (bytes & 255u) + (two >> 16) * (bytes >> 8 & 255u);
    };
    return (product(weights.bg, pixel) + product(weights.r_none, pixel >> 16) + weights.rounding) >> gray_sum_shift;
#endif
}

}  // namespace framewire
