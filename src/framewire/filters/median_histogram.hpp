#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/device.hpp"

namespace framewire {

/// Division of a batch into blocks for the CUDA kernel of histogram medians. A block covers a strip of `windows`
/// adjacent windows and moves down `rows` rows. In each row every window slides along `window_px` pixels. The block
/// keeps a histogram for each column that its windows read.
struct MedianHistogramBlocks {
    /// Maximum number of threads per block.
    static constexpr int most_threads = 512;
    static constexpr int columns_per_thread = 2;   ///< maximum number of columns per thread
    static constexpr int threads_per_window = 16;  ///< threads per window
    static constexpr int step_px = 4;              ///< number that `window_px` is a multiple of
    static constexpr int column_bytes = 272;       ///< size of a column's histogram in bytes

    int threads;  ///< threads per block; at least those of the windows, which fill whole warps
    int windows;  ///< windows per strip
    /// Number of pixels along which a window slides.
    int window_px;
    int strips;  ///< number of strips per row and channel
    int rows;    ///< number of rows of results per block
    /// Shared memory per block.
    int shared_bytes;

    /// Returns the width of a strip's result.
    int strip_px() const { return windows * window_px; }

    /// Chooses the division for an odd size from 3 to 255. Throws Error{config} if not even the smallest block fits the
    /// GPU's shared memory: above size 231 with 64 KiB, never with 99 KiB or more.
    MedianHistogramBlocks(int size, const Shape& shape, const cuda::GpuLimits& gpu);
};

}  // namespace framewire
