#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// A dense three-channel frame in device memory, and the buffers of the kernels below.
struct MosaicJob {
    const std::uint8_t* in = nullptr;
    std::uint8_t* out = nullptr;
    int width = 0, height = 0, cell_px = 0;
    std::uint32_t* sums = nullptr;         ///< sums per cell and channel
    std::uint32_t* counts = nullptr;       ///< pixels per cell
    unsigned long long* totals = nullptr;  ///< sums per channel over the whole frame

    int columns() const { return (width + cell_px - 1) / cell_px; }
    int rows() const { return (height + cell_px - 1) / cell_px; }
};

// The mosaic report's kernels, corrected. All are queued on `stream`, in blocks of `threads`, at most 1024.

/// Queues the first strategy: one thread per pixel adds to its cell's sums and count and to the frame's totals, all
/// in global memory and cleared before.
void mosaic_add_in_global_memory(const MosaicJob& job, int threads, const cuda::Stream& stream);
/// Queues the second strategy: one block per cell adds in shared memory, and one of its threads adds the result to
/// the same buffers.
void mosaic_add_in_shared_memory(const MosaicJob& job, int threads, const cuda::Stream& stream);
/// Queues the last step of both strategies: one thread per pixel writes its cell's mean.
void mosaic_write_means(const MosaicJob& job, int threads, const cuda::Stream& stream);

}  // namespace framewire::bench
