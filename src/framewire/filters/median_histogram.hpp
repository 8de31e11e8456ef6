#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/device.hpp"

namespace framewire {

/// How the CUDA kernel of histogram medians divides a batch into blocks. A block has a strip of `windows` windows next
/// to each other and goes down `rows` rows. In each row every window slides along `window_px` pixels. The block keeps a
/// histogram for each column that its windows read.
struct MedianHistogramBlocks {
    /// Maximum number of threads per block.
    static constexpr int most_threads = 512;
    static constexpr int columns_per_thread = 2;   ///< at most
    static constexpr int threads_per_window = 16;  ///< threads per window
    static constexpr int step_px = 4;              ///< window_px is a multiple of this
    static constexpr int column_bytes = 272;       ///< size of a column's histogram

    int threads;  ///< per block; at least those of the windows, which make up whole warps
    int windows;  ///< windows per strip
    /// Pixels along which a window slides.
    int window_px;
    int strips;  ///< per row and channel
    int rows;    ///< rows of results per block
    /// Shared memory per block.
    int shared_bytes;

    /// Width of a strip's result.
    int strip_px() const { return windows * window_px; }

    /// Chooses the division for an odd size from 3 to 255. Throws Error{config} if not even the smallest block fits
    /// `memory`: above size 231 with 64 KiB, never with 99 KiB or more.
    MedianHistogramBlocks(int size, const Shape& shape, const cuda::SharedMemory& memory);
};

}  // namespace framewire
