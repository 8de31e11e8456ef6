#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// A frame of three channels on the GPU without gaps, and what the kernels below work with there.
struct MosaicJob {
    const std::uint8_t* in = nullptr;
    std::uint8_t* out = nullptr;
    int width = 0, height = 0, cell_px = 0;
    std::uint32_t* sums = nullptr;         ///< of each cell and channel
    std::uint32_t* counts = nullptr;       ///< of each cell's pixels
    unsigned long long* totals = nullptr;  ///< of each channel over the whole frame

    int columns() const { return (width + cell_px - 1) / cell_px; }
    int rows() const { return (height + cell_px - 1) / cell_px; }
};

// The mosaic report's kernels, mended. All are queued on `stream`, in blocks of `threads`, at most 1024.

/// Its first strategy: a thread a pixel adds to its cell's sums and count and to the frame's totals, all in global
/// memory and 0 before.
void mosaic_add_in_global_memory(const MosaicJob& job, int threads, const cuda::Stream& stream);
/// Its second: a block a cell adds in shared memory, and one of its threads adds that to the same places.
void mosaic_add_in_shared_memory(const MosaicJob& job, int threads, const cuda::Stream& stream);
/// Of both: a thread a pixel writes its cell's mean.
void mosaic_write_means(const MosaicJob& job, int threads, const cuda::Stream& stream);

}  // namespace framewire::bench
