#pragma once

#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// How the CPU encoder cuts a frame: whole rows, about 64 KiB, so that a chunk's input stays in a core's L2 and its
/// sums of squares in 32 bits.
struct CpuChunks {
    std::int64_t rows_each;
    std::int64_t per_frame;

    explicit CpuChunks(const Shape& shape)
        : rows_each(std::max<std::int64_t>(64 * 1024 / shape.row_bytes(), 1)),
          per_frame((shape.height + rows_each - 1) / rows_each) {}
};

/// Bytes the CUDA encoder's block takes at a time.
inline constexpr std::int64_t cuda_tile_bytes = 16 * 1024;

/// Streams that one launch takes at most: what is said of each is an argument of the kernel.
inline constexpr int cuda_streams_per_launch = 32;

constexpr std::int64_t cuda_tiles_per_frame(const Shape& shape) {
    return (shape.frame_bytes() + cuda_tile_bytes - 1) / cuda_tile_bytes;
}

/// Error sums of one stream while its tiles run; back to zero when they are done.
struct CudaStreamSums {
    std::uint32_t max_error;
    std::uint32_t tiles_done;
    unsigned long long squared_error;
};

/// Where the CUDA encoder's launches stand.
struct CudaProgress {
    std::uint32_t launches_done;
    std::uint32_t tiles_done;  ///< of the launch that runs
};

/// Device memory the CUDA encoder keeps between launches, zero at first: its progress, the streams' error sums and a
/// look-back state a tile. For as many streams as `shape` has frames, or one launch takes.
struct CudaWorkspace {
    CudaProgress* progress;
    CudaStreamSums* sums;
    unsigned long long* states;

    static constexpr int streams(const Shape& shape) { return std::min(shape.frames, cuda_streams_per_launch); }
    static constexpr std::size_t bytes(const Shape& shape) {
        return 256 + static_cast<std::size_t>(streams(shape)) * sizeof(CudaStreamSums) +
               static_cast<std::size_t>(streams(shape) * cuda_tiles_per_frame(shape)) * sizeof(unsigned long long);
    }
    CudaWorkspace(std::uint8_t* memory, const Shape& shape)
        : progress(reinterpret_cast<CudaProgress*>(memory)),
          sums(reinterpret_cast<CudaStreamSums*>(memory + 256)),
          states(reinterpret_cast<unsigned long long*>(sums + streams(shape))) {}
};

}  // namespace framewire::delta
