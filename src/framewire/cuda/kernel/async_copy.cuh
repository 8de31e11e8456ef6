#pragma once

// Only for .cu files: asynchronous copies from global to shared memory (cp.async, PTX ISA), during which the
// thread continues. GPUs before Ampere (sm_80) lack the instruction; there a copy is done when its call
// returns.

#include <cstdint>

namespace framewire::cuda {

inline constexpr int chunk_bytes = 16;  ///< size of one copy; both addresses are multiples of it

/// Starts to copy `count` bytes, at most chunk_bytes, to a chunk of shared memory, and zeroes the rest of the
/// chunk. Any threads may call it, each for its own chunk.
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

/// Closes a group with the copies that the thread has started since the last group. The group may be empty.
__device__ inline void commit_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most the last `groups` groups of this thread are unfinished. Other threads see the copied
/// bytes only after a barrier that follows.
template <int groups>
__device__ void wait_for_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

}  // namespace framewire::cuda
