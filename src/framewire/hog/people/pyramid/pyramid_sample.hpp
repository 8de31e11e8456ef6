#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

// Arithmetic of the pyramid, the same on the CPU and CUDA.

namespace framewire {

inline constexpr int pyramid_share_bits = 7;
inline constexpr std::int32_t pyramid_share_one = 1 << pyramid_share_bits;
inline constexpr std::int64_t pyramid_pixel = 1 << 16;  // unit of a step

/// Place of a level's pixel in a row or column of its octave: between pixel `index` and the next one, whose
/// weight is `share` / pyramid_share_one. At the last pixel the share is 0.
struct PyramidSample {
    std::int32_t index, share;
};

/// Returns the place of pixel `i`. `step` is the distance of two level pixels in 1/65536 of the octave's
/// pixels, of which there are `pixels`. Places outside of the first and last pixel's centre are clamped to it.
FRAMEWIRE_HOST_DEVICE constexpr PyramidSample pyramid_sample(std::int64_t i, std::int64_t step, std::int64_t pixels) {
    constexpr int rest_bits = 16 - pyramid_share_bits;
    auto place = (((2 * i + 1) * step - pyramid_pixel) >> 1) + (1 << (rest_bits - 1));
    const auto last = (pixels - 1) * pyramid_pixel;
    place = place < 0 ? 0 : place > last ? last : place;
    return {static_cast<std::int32_t>(place / pyramid_pixel),
            static_cast<std::int32_t>(place % pyramid_pixel >> rest_bits)};
}

/// Interpolates between two values; the result is scaled by pyramid_share_one.
FRAMEWIRE_HOST_DEVICE constexpr std::int32_t pyramid_blend(std::int32_t a, std::int32_t b, std::int32_t share) {
    return a * (pyramid_share_one - share) + b * share;
}

/// Interpolates between two such results and rounds half up.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t pyramid_value(std::int32_t a, std::int32_t b, std::int32_t share) {
    return static_cast<std::uint8_t>((pyramid_blend(a, b, share) + (1 << (2 * pyramid_share_bits - 1))) >>
                                     (2 * pyramid_share_bits));
}

}  // namespace framewire
