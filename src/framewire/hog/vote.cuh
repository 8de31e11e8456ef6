#pragma once

// Only for .cu files: what a pixel's gradient votes for.

#include "framewire/hog/hog_arithmetic.hpp"

namespace framewire::hog_kernels {

// Small whole numbers to float, at the rate of additions instead of conversions'.
__device__ inline float float_of(int number) {
    constexpr float base = 12582912.0f;  // 2^23 + 2^22: its last bit is worth 1
    return __int_as_float(__float_as_int(base) + number) - base;
}

// The hardware's reciprocal and reciprocal root as they are, for numbers from 1 on: without what is there for tiny and
// huge ones.
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

/// A slot and two shares: slot k's first share belongs to bin k - 1, its second to bin k, so that the ring closes once
/// a histogram instead of once a pixel.
struct Vote {
    int slot;
    float first, second;
};

__device__ inline Vote vote_of(int gx, int gy, const HogRing& ring) {
    const auto x = float_of(gx), y = float_of(gy);
    const auto width = fabsf(x), height = fabsf(y);
    // Where both are 0 the angle is any, here 0.
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
