#pragma once

// Only for .cu files: products of matrices of bytes on the tensor cores, exact, for GPUs of compute capability 8.0 and
// later.

#include <cstdint>

namespace framewire {

/// A 16 x 8 matrix of sums, as a warp's threads hold it.
struct Sums {
    std::uint32_t sum[4];
};

/// `sums` and the product of a 16 x 32 and a 32 x 8 matrix of bytes.
inline __device__ Sums multiply_add(const Sums& sums, const std::uint32_t (&left)[4], std::uint32_t right_0,
                                    std::uint32_t right_1) {
    Sums result{};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=r"(result.sum[0]), "=r"(result.sum[1]), "=r"(result.sum[2]), "=r"(result.sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right_0), "r"(right_1), "r"(sums.sum[0]),
          "r"(sums.sum[1]), "r"(sums.sum[2]), "r"(sums.sum[3]));
#endif
    return result;
}

/// The same with a 16 x 16 and a 16 x 8 matrix.
inline __device__ Sums multiply_add(const Sums& sums, const std::uint32_t (&left)[2], std::uint32_t right) {
    Sums result{};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(result.sum[0]), "=r"(result.sum[1]), "=r"(result.sum[2]), "=r"(result.sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(right), "r"(sums.sum[0]), "r"(sums.sum[1]), "r"(sums.sum[2]),
          "r"(sums.sum[3]));
#endif
    return result;
}

/// Each sum times `factor`, plus `term`: with 256, what was multiplied by high bytes before low ones follow.
inline __device__ Sums scale_add(Sums sums, std::uint32_t factor, std::uint32_t term) {
#pragma unroll
    for (auto& sum : sums.sum) sum = sum * factor + term;
    return sums;
}

}  // namespace framewire
