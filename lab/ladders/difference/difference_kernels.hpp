#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// A byte is sent if it differs by more than this.
inline constexpr int ladder_threshold = 20;

/// The kernels of the difference (streaming and filters 2022, section 2.2), in the report's order.
enum class DifferenceKernel {
    bytes,                  ///< 2.2.1: byte by byte
    bytes_own_reset,        ///< 2.2.2: byte by byte, and the kernel resets the counter
    chunks_4,               ///< 2.2.4: reads four bytes at once, writes feedback byte by byte
    chunks_4_one_write,     ///< reads four bytes at once, writes their feedback at once
    chunks_16,              ///< reads and writes 16 bytes at once, as int4
    chunks_32,              ///< reads and writes 32 bytes at once, as long4
    chunks_32_shared_count  ///< 2.2.5: counts in shared memory
};

/// All pointers are to device memory.
struct DifferenceBuffers {
    std::uint8_t* current;         ///< the frame; after the kernel, what the viewer holds
    const std::uint8_t* previous;  ///< what the viewer held before
    std::uint8_t* differences;     ///< differences in the order of the positions, which is arbitrary
    std::uint32_t* positions;
    std::uint32_t* count;
};

/// Queues one of the kernels for frames of `bytes` (a multiple of 32), as one block of `threads` (at most 1024).
/// `count` must be 0 before it unless the kernel resets it.
void launch_difference(DifferenceKernel kernel, const DifferenceBuffers& buffers, std::int64_t bytes, int threads,
                       const cuda::Stream& stream);

}  // namespace framewire::bench
