#pragma once

#include "framewire/core/view.hpp"
#include "framewire/hog/hog_arithmetic.hpp"

#include <algorithm>
#include <cstdint>

// How HOG's intermediate images and counts lie in memory.

namespace framewire {

inline constexpr int hog_most_cell = 64, hog_most_bins = 36, hog_most_block = 8;

/// Room for what a vector's loads on the CPU take behind the last value.
inline constexpr int hog_vector_bytes = 64;

/// On the CPU a row begins with its border pixel and ends with the other.
inline constexpr int hog_cpu_row_begin = 1;
constexpr std::int64_t hog_cpu_row_stride_bytes(int width) {
    return (std::int64_t{width} + 2 + hog_vector_bytes + 63) / 64 * 64;
}

/// On CUDA rows are whole groups of 16 pixels.
inline constexpr int hog_group_px = 16;
constexpr std::int64_t hog_cuda_row_stride_bytes(int width) {
    return (std::int64_t{width} + hog_group_px - 1) / hog_group_px * hog_group_px;
}

/// What one block of threads counted of its part of a frame.
struct HogBandCounts {
    std::uint32_t bins[hog_gamma_bins];
    std::uint32_t largest;
};

inline constexpr int hog_count_threads = 512;

/// How many blocks count a frame: enough to fill a large GPU several times, of at least so many pixels that a block's
/// own costs do not count.
constexpr int hog_cuda_bands(std::int64_t row_stride_bytes, const Shape& frames) {
    const auto groups = row_stride_bytes / hog_group_px * frames.height;
    return static_cast<int>(std::clamp<std::int64_t>(groups / hog_count_threads, 1, std::max(1, 1024 / frames.frames)));
}

}  // namespace framewire
