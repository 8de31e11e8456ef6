#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// A dense gray frame with three equal channels in device memory, and the buffers of the kernels below: corrected
/// versions of those in the streaming and filters report of 2022, section 8.
struct BinarizeJob {
    const std::uint8_t* gray = nullptr;
    std::uint8_t* out = nullptr;
    std::int64_t pixels = 0;
    std::uint32_t* histogram = nullptr;  ///< 256 bins, must be cleared before adding
    std::uint8_t* threshold = nullptr;   ///< a single value
};

/// Number of blocks and of threads per block, at most 1024.
struct LadderGrid {
    int blocks = 1, threads = 1024;
};

// All functions queue their kernels on `stream`.

/// Queues the histogram: each thread adds its range of pixels to the bins in global memory (section 8.2.2).
void histogram_in_global_memory(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream);
/// Queues the histogram in shared memory: each thread adds its range of pixels to the block's bins, and each block
/// then adds its bins to those in global memory (section 8.2.3).
void histogram_in_shared_memory(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream);
/// Computes the threshold from the two fullest bins by a reduction in one block (sections 8.3.2 and 8.4).
void two_max_by_reduction(const BinarizeJob& job, const cuda::Stream& stream);
/// Binarizes byte by byte (section 8.5.2).
void binarize_by_bytes(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream);
/// Binarizes in chunks of 4, 16 or 32 bytes (section 8.5.3); the last chunk may extend beyond the frame.
void binarize_by_chunks(const BinarizeJob& job, int chunk_bytes, LadderGrid grid, const cuda::Stream& stream);

}  // namespace framewire::bench
