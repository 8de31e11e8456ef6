#pragma once

#include "framewire/core/view.hpp"
#include "framewire/hog/hog_arithmetic.hpp"

#include <algorithm>
#include <cstdint>

// Memory layout of HOG's intermediate images and counts.

namespace framewire {

inline constexpr int hog_most_cell = 64, hog_most_bins = 36, hog_most_block = 8;

/// Bytes that vector loads on the CPU may read after the last value.
inline constexpr int hog_vector_bytes = 64;

/// On the CPU a row starts with a replicated border pixel and ends with one.
inline constexpr int hog_cpu_row_begin = 1;

/// Returns the distance of rows on the CPU, a multiple of 64 bytes.
constexpr std::int64_t hog_cpu_row_stride_bytes(int width) {
    return (std::int64_t{width} + 2 + hog_vector_bytes + 63) / 64 * 64;
}

/// On CUDA rows consist of whole groups of 16 pixels.
inline constexpr int hog_group_px = 16;

// Returns the distance of rows on CUDA.
constexpr std::int64_t hog_cuda_row_stride_bytes(int width) {
    return (std::int64_t{width} + hog_group_px - 1) / hog_group_px * hog_group_px;
}

/// Gray levels that one block of threads has counted in its part of a frame.
struct HogBandCounts {
    std::uint32_t bins[hog_gamma_bins];
    std::uint32_t largest;
};

inline constexpr int hog_count_threads = 512;

/// Returns how many blocks count a frame: enough to fill a large GPU several times, each with enough pixels to
/// make its fixed cost negligible.
constexpr int hog_cuda_bands(std::int64_t row_stride_bytes, const Shape& frames) {
    const auto groups = row_stride_bytes / hog_group_px * frames.height;
    return static_cast<int>(std::clamp<std::int64_t>(groups / hog_count_threads, 1, std::max(1, 1024 / frames.frames)));
}

}  // namespace framewire
