#pragma once

#include "framewire/hog/hog.hpp"

// The vote of a pixel's gradient. Include it only in .cu files.

namespace framewire::hog_kernels {

// Converts small whole numbers to float at the rate of additions, which is higher than that of conversions.
__device__ inline float float_of(int number) {
    constexpr float base = 12582912.0f;  // 2^23 + 2^22: its last bit is worth 1
    return __int_as_float(__float_as_int(base) + number) - base;
}

// Returns the hardware's approximate reciprocal or reciprocal square root, without the handling of tiny and huge
// numbers; the argument must be at least 1.
__device__ inline float reciprocal_of(float number) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(number));
    return result;
}
__device__ inline float reciprocal_root_of(float number) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(number));
    return result;
}

/// A slot and two shares. The first share of slot k belongs to bin k - 1 and the second to bin k, so slots wrap around
/// the ring of bins once per histogram instead of once per pixel.
struct Vote {
    int slot;
    float first, second;
};

/// Returns the vote of a gradient: its magnitude, split between the two nearest bins of the ring.
__device__ inline Vote vote_of(int gx, int gy, const HogRing& ring) {
    const auto x = float_of(gx), y = float_of(gy);
    const auto width = fabsf(x), height = fabsf(y);
    // If both components are 0, any angle is correct; choose 0.
    const auto ratio = fminf(width, height) * reciprocal_of(fmaxf(fmaxf(width, height), 1.0f));
    const auto square = ratio * ratio;
    auto sum = ring.arctangent[6];
#pragma unroll
    for (int i = 5; i >= 0; --i) sum = sum * square + ring.arctangent[i];
    auto position = sum * ratio;
    if (height > width) position = ring.quarter - position;
    if (x < 0) position = ring.half - position;
    if (y < 0) position = ring.whole - position;

    constexpr float base = 12582912.0f;
    const auto rounded = __fadd_rn(position, base);
    const auto share = position - __fadd_rn(rounded, -base) + 0.5f;
    const auto energy = x * x + y * y;
    const auto magnitude = energy * reciprocal_root_of(fmaxf(energy, 1.0f));
    const auto second = magnitude * share;
    return {__float_as_int(rounded) - __float_as_int(base), magnitude - second, second};
}

}  // namespace framewire::hog_kernels
