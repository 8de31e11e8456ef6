#pragma once

// Only for .cu files: exclusive and inclusive prefix sums over the threads of a warp and of a block. The x size
// of the block must be a whole number of warps. In blocks of several rows each row of threads scans on its own.

#include "framewire/cuda/kernel/warp.cuh"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace framewire::cuda {

/// __shfl_up_sync() for any trivially copyable value whose size is a multiple of 4 bytes. Called by all lanes
/// of a warp.
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

/// Returns the sum of the values of all lanes up to and including the calling lane (Hillis and Steele, "Data
/// parallel algorithms", 1986). `Value` needs operator+. Called by all lanes of a warp; uses no memory.
template <class Value>
__device__ Value inclusive_warp_sum(Value value) {
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        const auto before = shuffle_up(value, step);
        if (threadIdx.x % 32 >= step) value = value + before;
    }
    return value;
}

/// Prefix sum over `warps` warps, in shared memory. It takes two calls with a barrier between them. The caller
/// provides the barrier, so that one barrier can serve other data too:
///
///     const auto in_warp = scan.begin(own);
///     __syncthreads();
///     const auto [before, total] = scan.end(in_warp);
///
/// A second barrier must precede the next begin(). `Value` needs operator+ and operator-, and `Value{}` must be
/// zero.
template <class Value, int warps>
struct BlockScan {
    Value warp_totals[warps];

    /// Result of end().
    struct Sums {
        Value before;  ///< sum over all threads before this one
        Value total;   ///< sum over all threads
    };

    /// Takes the value of the calling thread and returns the argument for end(). Called by all threads.
    __device__ Value begin(const Value& own) {
        const auto up_to_lane = inclusive_warp_sum(own);
        if (threadIdx.x % 32 == 31) warp_totals[threadIdx.x / 32] = up_to_lane;
        return up_to_lane - own;
    }

    /// Returns the sums for the calling thread; reads the totals of all warps. Any subset of the threads may
    /// call it.
    __device__ Sums end(const Value& in_warp) const {
        Sums sums{in_warp, {}};
#pragma unroll
        for (int warp = 0; warp < warps; ++warp) {
            if (warp < static_cast<int>(threadIdx.x / 32)) sums.before = sums.before + warp_totals[warp];
            sums.total = sums.total + warp_totals[warp];
        }
        return sums;
    }

    /// Returns the sum before the calling thread only; each lane reads the total of one warp, which is faster
    /// than end() with more than a few warps. Called by all lanes of a warp, which may arrive separately:
    /// warp_sum() waits for them. Only for 32-bit values.
    __device__ Value end_by_warp(const Value& in_warp) const {
        static_assert(warps <= 32 && std::is_same_v<Value, std::uint32_t>);
        const auto lane = threadIdx.x % 32;
        return in_warp + warp_sum(lane < threadIdx.x / 32 ? warp_totals[lane] : 0);
    }
};

}  // namespace framewire::cuda
