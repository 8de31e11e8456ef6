#pragma once

// Only for .cu files: copies from global to shared memory that are under way while the thread goes on. GPUs before
// Ampere are done with a copy when its call returns.

#include <cstdint>

namespace framewire::cuda {

inline constexpr int chunk_bytes = 16;  ///< what one copy moves, from a multiple of it to a multiple of it

/// Begins to copy `count` bytes, at most chunk_bytes, to a chunk of shared memory, the rest of which becomes zero. By
/// any threads, each its own chunk.
__device__ inline void copy_chunk_async(std::uint8_t* to, const std::uint8_t* from, int count) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
        "l"(from), "r"(count)
        : "memory");
#else
    for (int byte = 0; byte < chunk_bytes; ++byte) to[byte] = byte < count ? from[byte] : std::uint8_t{0};
#endif
}

/// Closes a group of the thread's copies, which may be empty.
__device__ inline void commit_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until no more than `groups` of the thread's last groups are under way. Others see what was copied behind a
/// barrier.
template <int groups>
__device__ void wait_for_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

}  // namespace framewire::cuda
