#pragma once

#include "framewire/filters/median.hpp"

#include <cstdint>

// Code shared by the median's kernels: pairs of values, and rows with a border.

namespace framewire {

// Two values per word, each in the upper byte of 16 bits. The lower bytes only decide the order of equal values, so
// they may hold anything.
using Pair = std::uint32_t;

// Minimum and maximum of pairs. If the minimum is known, the maximum is the sum of both values minus the minimum. This
// works in both halves at once, because borrows between the halves cancel out. Multiply-adds run in parallel with
// minima and maxima on other units, but only if the compiler does not recognise them as additions; therefore the
// factors are kernel arguments.
struct PairOrder {
    // Constant factors that the compiler does not know.
    std::uint32_t one = 1, minus_one = ~0u;

    // Returns the smaller values of two pairs.
    __device__ __forceinline__ static Pair lower(Pair a, Pair b) { return __vminu2(a, b); }
    // Returns the larger values of two pairs.
    __device__ __forceinline__ static Pair upper(Pair a, Pair b) { return __vmaxu2(a, b); }
    // Returns the larger values, given the smaller ones.
    __device__ __forceinline__ Pair upper(Pair a, Pair b, Pair the_lower) const {
        return the_lower * minus_one + (a * one + b);
    }
};

// Loads four bytes of a row starting at `column`, some of which lie outside the image.
__device__ __noinline__ inline std::uint32_t bytes_with_border(const std::uint8_t* row, int column, int width,
                                                               int channels, Border border) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) {
        // Rounds down for negative columns, too.
        const int x = (column + i + 1024 * channels) / channels - 1024;
        const int channel = column + i - x * channels;
        const int from = border_index(x, width, border);
        if (from >= 0) word |= static_cast<std::uint32_t>(row[std::int64_t{from} * channels + channel]) << (8 * i);
    }
    return word;
}

// Loads four bytes of a row. A null row is black. `aligned` states that columns divisible by four have addresses
// divisible by four.
__device__ inline std::uint32_t load_word(const std::uint8_t* row, int column, int width, int channels, Border border,
                                          bool aligned) {
    if (!row) return 0;
    if (aligned && column >= 0 && column + 4 <= width * channels)
        return __ldg(reinterpret_cast<const std::uint32_t*>(row + column));
    return bytes_with_border(row, column, width, channels, border);
}

}  // namespace framewire
