#pragma once

#include "framewire/filters/gray_input.hpp"
#include "framewire/filters/kernel.cuh"

#include <cstdint>

// Gray values on the GPU, shared by the kernels that start from them.

namespace framewire {

/// Returns the gray values of four BGR pixels, which are stored in three words, as one value per byte. Takes two dp2a
/// instructions per pixel; the weights are arranged so that no byte of a word has to be moved (see SplitWeights).
inline __device__ std::uint32_t gray_of_four(std::uint32_t w0, std::uint32_t w1, std::uint32_t w2,
                                             const SplitWeights& weights) {
    const auto rounding = weights.rounding;
    const auto sum_0 = __dp2a_hi(weights.r_none, w0, __dp2a_lo(weights.bg, w0, rounding));
    const auto sum_1 = __dp2a_lo(weights.gr, w1, __dp2a_hi(weights.none_b, w0, rounding));
    const auto sum_2 = __dp2a_lo(weights.r_none, w2, __dp2a_hi(weights.bg, w1, rounding));
    const auto sum_3 = __dp2a_hi(weights.gr, w2, __dp2a_lo(weights.none_b, w2, rounding));
    // The gray value is byte 2 of each sum.
    static_assert(gray_sum_shift == 16);
    return __byte_perm(__byte_perm(sum_0, sum_1, 0x0062), __byte_perm(sum_2, sum_3, 0x0062), 0x5410);
}

/// Expands four gray values to the three words of four BGR pixels.
inline __device__ uint3 repeat_three_times(std::uint32_t gray) {
    return {__byte_perm(gray, 0, 0x1000), __byte_perm(gray, 0, 0x2211), __byte_perm(gray, 0, 0x3332)};
}

/// Pixels per group: three 16-byte vectors of BGR, or one of gray.
inline constexpr int gray_group_px = lane_px;

/// Returns the gray values of 16 pixels. `in` is aligned to 16 bytes.
template <int channels>
__device__ uint4 load_gray(const std::uint8_t* in, const SplitWeights& weights) {
    const auto* words = reinterpret_cast<const uint4*>(in);
    if constexpr (channels == 1) return __ldg(words);
    // The loads have no streaming hint, because each sector serves two of them.
    const auto a = __ldg(words), b = __ldg(words + 1), c = __ldg(words + 2);
    return {gray_of_four(a.x, a.y, a.z, weights), gray_of_four(a.w, b.x, b.y, weights),
            gray_of_four(b.z, b.w, c.x, weights), gray_of_four(c.y, c.z, c.w, weights)};
}

/// Returns the gray value of one pixel at any address.
template <int channels>
__device__ std::uint32_t load_gray_pixel(const std::uint8_t* in, const SplitWeights& weights) {
    if constexpr (channels == 1) return in[0];
    return gray_of(in[0] | in[1] << 8 | in[2] << 16, weights);
}

/// Returns the gray values of a group of up to 16 pixels; bytes beyond `pixels` are 0. If `aligned`, `in` is aligned to
/// 16 bytes.
template <int channels, bool aligned>
__device__ uint4 load_gray_group(const std::uint8_t* in, int pixels, const SplitWeights& weights) {
    if (aligned && pixels == gray_group_px) return load_gray<channels>(in, weights);
    std::uint32_t words[4] = {};
#pragma unroll
    for (int pixel = 0; pixel < gray_group_px; ++pixel)
        if (pixel < pixels)
            words[pixel / 4] |= load_gray_pixel<channels>(in + pixel * channels, weights) << (pixel % 4 * 8);
    return {words[0], words[1], words[2], words[3]};
}

/// Stores 16 gray values as pixels with one channel or three equal ones. `out` is aligned to 16 bytes; `whole_warp`
/// comes from is_whole_warp().
inline __device__ void store_gray(uint4 gray, int channels, bool whole_warp, std::uint8_t* out) {
    auto* words = reinterpret_cast<uint4*>(out);
    if (channels == 1) {
        words[0] = gray;
        return;
    }
    const auto a = repeat_three_times(gray.x), b = repeat_three_times(gray.y), c = repeat_three_times(gray.z),
               d = repeat_three_times(gray.w);
    const uint4 first{a.x, a.y, a.z, b.x}, second{b.y, b.z, c.x, c.y}, third{c.z, d.x, d.y, d.z};
    if (whole_warp) return store_by_warp(first, second, third, out);
    words[0] = first;
    words[1] = second;
    words[2] = third;
}

}  // namespace framewire
