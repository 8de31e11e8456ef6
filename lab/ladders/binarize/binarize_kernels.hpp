#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// A gray frame of three equal channels on the GPU without gaps, and what the kernels below work with there: those of
/// the streaming and filters report of 2022, section 8, mended.
struct BinarizeJob {
    const std::uint8_t* gray = nullptr;
    std::uint8_t* out = nullptr;
    std::int64_t pixels = 0;
    std::uint32_t* histogram = nullptr;  ///< 256 bins, 0 before they are added to
    std::uint8_t* threshold = nullptr;   ///< one
};

/// How many blocks, and threads of each, at most 1024.
struct LadderGrid {
    int blocks = 1, threads = 1024;
};

// All are queued on `stream`.

/// Each thread adds its run of pixels to the bins in global memory (section 8.2.2).
void histogram_in_global_memory(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream);
/// The same in shared memory, and each block adds its bins to those in global memory (section 8.2.3).
void histogram_in_shared_memory(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream);
/// The threshold from the two fullest bins by a reduction in one block (sections 8.3.2 and 8.4).
void two_max_by_reduction(const BinarizeJob& job, const cuda::Stream& stream);
/// Black and white byte by byte (section 8.5.2).
void binarize_by_bytes(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream);
/// The same in chunks of 4, 16 or 32 bytes (section 8.5.3); the last may reach behind the frame.
void binarize_by_chunks(const BinarizeJob& job, int chunk_bytes, LadderGrid grid, const cuda::Stream& stream);

}  // namespace framewire::bench
