#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::codec {

/// Partition of a frame for the CPU encoder into chunks of whole rows, about 64 KiB each. The input of a chunk then
/// fits into a core's L2 cache, and its sum of squared errors into 32 bits.
struct CpuChunks {
    std::int64_t rows_each;  ///< rows per chunk; the last chunk may have fewer
    std::int64_t per_frame;  ///< number of chunks

    /// Computes the partition for frames of `shape`.
    explicit CpuChunks(const Shape& shape)
        : rows_each(std::max<std::int64_t>(64 * 1024 / shape.row_bytes(), 1)),
          per_frame((shape.height + rows_each - 1) / rows_each) {}
};

/// Bytes per tile, the work of one thread block of the CUDA encoder.
inline constexpr std::int64_t cuda_tile_bytes = 16 * 1024;

/// Maximum number of streams per launch, limited by the size of the kernel arguments, which describe each stream.
inline constexpr int cuda_streams_per_launch = 32;

/// Returns the number of tiles of a frame, including a partial one.
constexpr std::int64_t cuda_tiles_per_frame(const Shape& shape) {
    return (shape.frame_bytes() + cuda_tile_bytes - 1) / cuda_tile_bytes;
}

/// Error sums of one stream during a launch. The last tile of the stream resets them to zero.
struct CudaStreamSums {
    std::uint32_t max_error;
    std::uint32_t tiles_done;
    unsigned long long squared_error;
};

/// Counters of the CUDA encoder's launches. Look-back states contain the number of their launch, so they need no
/// clearing between launches.
struct CudaProgress {
    std::uint32_t launches_done;  ///< number of completed launches
    std::uint32_t tiles_done;     ///< number of completed tiles in the current launch
};

/// Device memory that the CUDA encoder keeps between launches: counters, error sums, and a look-back state per tile. It
/// must be zero before the first launch. It has room for all streams of `shape`, but at most for those of one launch.
struct CudaWorkspace {
    CudaProgress* progress;
    CudaStreamSums* sums;
    unsigned long long* states;

    /// Returns the number of streams that the memory has room for.
    static constexpr int streams(const Shape& shape) { return std::min(shape.frames, cuda_streams_per_launch); }
    /// Returns the size of the memory in bytes.
    static constexpr std::size_t bytes(const Shape& shape) {
        return 256 + static_cast<std::size_t>(streams(shape)) * sizeof(CudaStreamSums) +
               static_cast<std::size_t>(streams(shape) * cuda_tiles_per_frame(shape)) * sizeof(unsigned long long);
    }
    /// Creates a view of `memory`, which must have bytes(shape) bytes and the alignment of a device allocation.
    CudaWorkspace(std::uint8_t* memory, const Shape& shape)
        : progress(reinterpret_cast<CudaProgress*>(memory)),
          sums(reinterpret_cast<CudaStreamSums*>(memory + 256)),
          states(reinterpret_cast<unsigned long long*>(sums + streams(shape))) {}
};

/// Horizontally adjacent blocks of a frame that are compared together.
struct Strip {
    static constexpr int most_blocks = 32;

    int first_block;   ///< number of the leftmost block
    int blocks;        ///< 1 to `most_blocks`
    BlockPlace place;  ///< area of all blocks of the strip
};

/// Compares a strip of `current` with R (`reference`) and updates the bytes of R that are off by more than `threshold`.
///
/// `differences` starts at the strip's first pixel, covers whole blocks, and must be 0 on entry. Changed bytes are set
/// to the new value minus the old one, modulo 256. Adds the changes of block i of the strip to `changes[i]`. Returns
/// the number of changed bytes and the remaining errors. Thread-safe for disjoint strips.
Summary compare_strip(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference, const Strip& strip,
                      int threshold, HostView<std::uint8_t> differences, std::span<BlockChanges> changes);

}  // namespace framewire::codec
