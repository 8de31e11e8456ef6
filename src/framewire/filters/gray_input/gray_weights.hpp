#pragma once

// The gray value of a pixel, for every operation that begins with it.

#include "framewire/core/host_device.hpp"

#include <cstdint>

namespace framewire {

enum class GrayMethod {
    weighted,  ///< (3735 B + 19235 G + 9798 R + 2^14) >> 15: what OpenCV's BGR2GRAY gives, byte for byte
    average,   ///< floor((B + G + R) / 3), the report's first
};

/// gray = (b * B + g * G + r * R + rounding) >> 15, which serves both methods exactly: the weighted one with OpenCV's
/// own constants, the average because floor(s / 3) = (s * 10923) >> 15 for every s up to 765.
struct GrayWeights {
    std::int16_t b, g, r;
    std::int32_t rounding;
};

inline constexpr int gray_shift = 15;

constexpr GrayWeights gray_weights(GrayMethod method) {
    return method == GrayMethod::weighted ? GrayWeights{3735, 19235, 9798, 1 << (gray_shift - 1)}
                                          : GrayWeights{10923, 10923, 10923, 0};
}

/// The sum of GrayWeights needs 24 bits, dp4a multiplies bytes: each weight goes as a high and a low byte.
struct SplitWeights {
    std::uint32_t high, low;  // bytes b, g, r, 0
    std::int32_t rounding;
};

/// The same weights for gray_of().
inline SplitWeights split(const GrayWeights& weights) {
    const auto bytes = [](int b, int g, int r) {
        return static_cast<std::uint32_t>(b) | static_cast<std::uint32_t>(g) << 8 | static_cast<std::uint32_t>(r) << 16;
    };
    return {bytes(weights.b >> 8, weights.g >> 8, weights.r >> 8),
            bytes(weights.b & 255, weights.g & 255, weights.r & 255), weights.rounding};
}

/// The gray value of a pixel: `pixel` holds b, g, r in its low bytes; the highest has weight 0.
FRAMEWIRE_HOST_DEVICE inline std::uint32_t gray_of(std::uint32_t pixel, const SplitWeights& weights) {
#ifdef __CUDA_ARCH__
    const auto high = __dp4a(pixel, weights.high, 0u);
    const auto low = __dp4a(pixel, weights.low, static_cast<std::uint32_t>(weights.rounding));
#else
    const auto product = [pixel](std::uint32_t factors, std::uint32_t sum) {
        for (int shift = 0; shift < 24; shift += 8) sum += (pixel >> shift & 255u) * (factors >> shift & 255u);
        return sum;
    };
    const auto high = product(weights.high, 0);
    const auto low = product(weights.low, static_cast<std::uint32_t>(weights.rounding));
#endif
    return (high * 256 + low) >> gray_shift;
}

}  // namespace framewire
