#pragma once

// Only for .cu files: reductions over the 32 lanes of a warp. Every lane receives the result. All lanes must
// call them; they use no memory.

#include <cstdint>

namespace framewire::cuda {

/// Reduces with `join` by a butterfly exchange. The two partners of an exchange join the same pair of values,
/// each in its own order, so `join` must be commutative; floating-point sums then are equal in all lanes.
template <class Value, class Join>
__device__ Value warp_joined(Value value, Join&& join) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value = join(value, __shfl_xor_sync(~0u, value, step));
    return value;
}

/// Returns the sum over all lanes. 32-bit integers use the hardware reduction of Ampere and later.
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

/// Returns the bits that are set in any of the values.
__device__ inline std::uint32_t warp_or(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_or_sync(~0u, value);
#else
    return warp_joined(value, [](std::uint32_t a, std::uint32_t b) { return a | b; });
#endif
}

/// Returns the largest value.
__device__ inline std::uint32_t warp_max(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_max_sync(~0u, value);
#else
    return warp_joined(value, [](std::uint32_t a, std::uint32_t b) { return max(a, b); });
#endif
}

}  // namespace framewire::cuda
