#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// A dense three-channel frame of `pixels` pixels in device memory; each channel of the result is the gray value. One
/// block of at most 1024 `threads` does all the work, each thread a range of pixels, as in the streaming and filters
/// report of 2022, sections 7.2 to 7.5.
struct GrayJob {
    const std::uint8_t* in = nullptr;
    std::uint8_t* out = nullptr;
    std::int64_t pixels = 0;
    int threads = 0;
};

/// Formula of a pixel's gray value.
enum class LadderGray {
    average,           ///< a third of the sum, truncated
    weighted_doubles,  ///< 0.114 B + 0.587 G + 0.299 R in doubles, rounded to nearest
    weighted_integers  ///< gray_reference()'s weighted
};

// All functions queue their kernels on `stream`.

/// Computes the average, byte by byte.
void gray_by_bytes(const GrayJob& job, const cuda::Stream& stream);
/// Reads chunks of 4, 16 or 32 bytes, of which the last may extend beyond the frame.
void gray_by_chunks(const GrayJob& job, int chunk_bytes, LadderGray way, const cuda::Stream& stream);

}  // namespace framewire::bench
