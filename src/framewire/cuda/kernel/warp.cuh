#pragma once

// Only for .cu files: values of all 32 lanes of a warp joined, every lane getting the result. All lanes call; no memory
// is needed.

#include <cstdint>

namespace framewire::cuda {

/// join(... join(value, value) ...) over the lanes, by a butterfly: both of two lanes join the same two values, in an
/// order of their own, so that `join` has to give the same either way.
template <class Value, class Join>
__device__ Value warp_joined(Value value, Join&& join) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value = join(value, __shfl_xor_sync(~0u, value, step));
    return value;
}

/// The sum over all lanes.
template <class Value>
__device__ Value warp_sum(Value value) {
    return warp_joined(value, [](Value a, Value b) { return a + b; });
}
__device__ inline std::uint32_t warp_sum(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, value);
#else
    return warp_joined(value, [](std::uint32_t a, std::uint32_t b) { return a + b; });
#endif
}

/// The bits set in any of the values.
__device__ inline std::uint32_t warp_or(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_or_sync(~0u, value);
#else
    return warp_joined(value, [](std::uint32_t a, std::uint32_t b) { return a | b; });
#endif
}

/// The largest value.
__device__ inline std::uint32_t warp_max(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_max_sync(~0u, value);
#else
    return warp_joined(value, [](std::uint32_t a, std::uint32_t b) { return max(a, b); });
#endif
}

}  // namespace framewire::cuda
