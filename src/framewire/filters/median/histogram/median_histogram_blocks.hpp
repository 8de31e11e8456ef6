#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/device/device.hpp"

namespace framewire {

/// How the CUDA kernel of histogram medians cuts a batch into blocks. A block has a strip of `windows` windows, each of
/// which slides along `window_px` pixels of a row, and goes down `rows` rows; it keeps a histogram for each column that
/// its windows see.
struct MedianHistogramBlocks {
    static constexpr int most_threads = 512;
    static constexpr int columns_per_thread = 2;  ///< at most
    static constexpr int threads_per_window = 16;
    static constexpr int step_px = 4;         ///< window_px is a multiple of this
    static constexpr int column_bytes = 272;  ///< of a column's histogram

    int threads;  ///< at least those of the windows, which are whole warps
    int windows;
    int window_px;
    int strips;  ///< side by side
    int rows;
    int shared_bytes;

    int strip_px() const { return windows * window_px; }

    /// For odd sizes 3 to 255. Throws Error{config} where not even the smallest block fits `memory`: above size 231
    /// with 64 KiB, never with 99 KiB and more.
    MedianHistogramBlocks(int size, const Shape& shape, const cuda::SharedMemory& memory);
};

}  // namespace framewire
