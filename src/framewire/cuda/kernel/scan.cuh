#pragma once

// Only for .cu files: sums of the values of all threads before each one, of a warp and of a block. Blocks are so many
// whole warps wide; where they are higher, each row of threads scans on its own.

#include "framewire/cuda/kernel/warp.cuh"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace framewire::cuda {

/// __shfl_up_sync() of any value of whole words. By all lanes.
template <class Value>
__device__ Value shuffle_up(const Value& value, unsigned lanes) {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(std::uint32_t) == 0);
    std::uint32_t words[sizeof(Value) / sizeof(std::uint32_t)];
    std::memcpy(words, &value, sizeof value);
#pragma unroll
    for (auto& word : words) word = __shfl_up_sync(~0u, word, lanes);
    Value shuffled;
    std::memcpy(&shuffled, words, sizeof value);
    return shuffled;
}

/// The sum of the values of the lanes up to and including each one (Hillis and Steele, "Data parallel algorithms",
/// 1986). `Value` has a `+`. By all lanes; without memory.
template <class Value>
__device__ Value inclusive_warp_sum(Value value) {
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        const auto before = shuffle_up(value, step);
        if (threadIdx.x % 32 >= step) value = value + before;
    }
    return value;
}

/// A scan over `warps` warps, in shared memory. It takes two calls, between which all threads meet at a barrier of the
/// caller's, who has other things for it to separate:
///
///     const auto in_warp = scan.begin(own);
///     __syncthreads();
///     const auto [before, total] = scan.end(in_warp);
///
/// Before the next begin() they meet once more. `Value` has a `+` and a `-`, and is 0 where it is `{}`.
template <class Value, int warps>
struct BlockScan {
    Value warp_totals[warps];

    struct Sums {
        Value before;  ///< of all threads before this one
        Value total;   ///< of all threads
    };

    /// By all threads: takes each one's value, and gives what end() wants of it.
    __device__ Value begin(const Value& own) {
        const auto up_to_lane = inclusive_warp_sum(own);
        if (threadIdx.x % 32 == 31) warp_totals[threadIdx.x / 32] = up_to_lane;
        return up_to_lane - own;
    }

    /// By any threads. Each reads the totals of all warps.
    __device__ Sums end(const Value& in_warp) const {
        Sums sums{in_warp, {}};
#pragma unroll
        for (int warp = 0; warp < warps; ++warp) {
            if (warp < static_cast<int>(threadIdx.x / 32)) sums.before = sums.before + warp_totals[warp];
            sums.total = sums.total + warp_totals[warp];
        }
        return sums;
    }

    /// The sum before this thread alone, by whole warps: each lane reads the total of one warp. Quicker than end() with
    /// more than a few warps. Lanes may come one after the other, for warp_sum() waits for all of its warp. For 32-bit
    /// values.
    __device__ Value end_by_warp(const Value& in_warp) const {
        static_assert(warps <= 32 && std::is_same_v<Value, std::uint32_t>);
        const auto lane = threadIdx.x % 32;
        return in_warp + warp_sum(lane < threadIdx.x / 32 ? warp_totals[lane] : 0);
    }
};

}  // namespace framewire::cuda
