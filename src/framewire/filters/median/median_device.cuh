#pragma once

// What the median's kernels share: pairs of values and rows with a border.

#include "framewire/filters/median/median_cuda.hpp"

#include <cstdint>

namespace framewire {

// Values go in pairs, each in the upper byte of 16 bits: what is below it orders equal values, no more, so it may be
// anything.
using Pair = std::uint32_t;

// The larger of two is also their sum less the smaller, in both halves at once, for what one half borrows it gives
// back. Multiply-adds run beside minima and maxima, on other units, if only the compiler does not see that they are
// additions: so their factors come as arguments of the kernel.
struct PairOrder {
    std::uint32_t one = 1, minus_one = ~0u;

    __device__ __forceinline__ static Pair lower(Pair a, Pair b) { return __vminu2(a, b); }
    __device__ __forceinline__ static Pair upper(Pair a, Pair b) { return __vmaxu2(a, b); }
    __device__ __forceinline__ Pair upper(Pair a, Pair b, Pair the_lower) const {
        return the_lower * minus_one + (a * one + b);
    }
};

// Four bytes of a row from `column` on, some of which are outside the image.
__device__ __noinline__ inline std::uint32_t bytes_with_border(const std::uint8_t* row, int column, int width,
                                                               int channels, Border border) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) {
        // Rounded down, left of the image too.
        const int x = (column + i + 1024 * channels) / channels - 1024;
        const int channel = column + i - x * channels;
        const int from = border_index(x, width, border);
        if (from >= 0) word |= static_cast<std::uint32_t>(row[std::int64_t{from} * channels + channel]) << (8 * i);
    }
    return word;
}

// Four bytes of a row, null for black; `aligned`: to four bytes at every column divisible by four.
__device__ inline std::uint32_t load_word(const std::uint8_t* row, int column, int width, int channels, Border border,
                                          bool aligned) {
    if (!row) return 0;
    if (aligned && column >= 0 && column + 4 <= width * channels)
        return __ldg(reinterpret_cast<const std::uint32_t*>(row + column));
    return bytes_with_border(row, column, width, channels, border);
}

}  // namespace framewire
