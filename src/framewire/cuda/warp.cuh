#pragma once

#include <cstdint>

namespace framewire::cuda {

/// The sum over all 32 threads of a warp, which all call it.
__device__ inline std::uint32_t warp_sum(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, value);
#else
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    return value;
#endif
}

/// The bits set in any of the values of all 32 threads of a warp, which all call it.
__device__ inline std::uint32_t warp_or(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_or_sync(~0u, value);
#else
    for (int step = 16; step > 0; step /= 2) value |= __shfl_xor_sync(~0u, value, step);
    return value;
#endif
}

/// The largest value of all 32 threads of a warp, which all call it.
__device__ inline std::uint32_t warp_max(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_max_sync(~0u, value);
#else
    for (int step = 16; step > 0; step /= 2) value = max(value, __shfl_xor_sync(~0u, value, step));
    return value;
#endif
}

}  // namespace framewire::cuda
