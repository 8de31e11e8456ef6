#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// What a byte must differ by more than.
inline constexpr int ladder_threshold = 20;

/// The kernels of the difference (streaming and filters 2022, section 2.2), in the report's order.
enum class DifferenceKernel {
    bytes,                  ///< 2.2.1: byte by byte
    bytes_own_reset,        ///< 2.2.2: the same, and the kernel resets the counter
    chunks_4,               ///< 2.2.4: reads four bytes at once, writes feedback byte by byte
    chunks_4_one_write,     ///< and writes it at once
    chunks_16,              ///< int4
    chunks_32,              ///< long4
    chunks_32_shared_count  ///< 2.2.5: counts in shared memory
};

/// All in device memory.
struct DifferenceBuffers {
    std::uint8_t* current;         ///< the frame; after it, what the viewer holds
    const std::uint8_t* previous;  ///< what the viewer held
    std::uint8_t* differences;     ///< in any order, as positions
    std::uint32_t* positions;
    std::uint32_t* count;
};

/// Queues one of them for frames of `bytes` (a multiple of 32), as one block of `threads` (at most 1024). `count` is 0
/// before it where the kernel does not reset it.
void launch_difference(DifferenceKernel kernel, const DifferenceBuffers& buffers, std::int64_t bytes, int threads,
                       const cuda::Stream& stream);

}  // namespace framewire::bench
