#pragma once

// Motion search on the device, by all threads of a block: the counterpart of MotionSearch. For .cu files only.

#include "framewire/delta/batch/near_parts.cuh"
#include "framewire/delta/batch/packing/prediction/motion.cuh"

#include <cstdint>

namespace framewire::delta {

/// A candidate vector and its estimated cost.
struct TriedVector {
    MotionVector vector;
    std::uint32_t cost;  // in 1/16 bits, or `nothing`
};

/// Memory and parameters of a motion search for one sub-block. In shared memory.
template <int channels>
struct VectorSearch {
    static constexpr int most_found = 4, most_tried = 2 + 25 * 25;

    MotionWindow<channels> window;
    CameraPart<channels> camera;
    TriedVector tried[most_tried], found[most_found];  // candidates of the current pass, and the best ones so far
    int found_count;
    int range, threshold,
        wanted;  ///< search range in pixels, threshold of the frame, and maximum number of vectors to return
};

/// Cost that marks a vector as not to be tried.
inline constexpr std::uint32_t nothing = ~0u;
/// Lanes that share a vector; each computes two rows of the sub-block.
inline constexpr int pair_lanes = part_side / 2;

/// Moves the `count` cheapest of the first `tried` vectors to `found`. Of equal costs the earlier one wins, and each
/// vector is taken once. One warp calls it.
template <int channels>
__device__ void keep_best(VectorSearch<channels>& search, int tried, int count) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int found = 0;
    for (; found < count; ++found) {
        std::uint32_t cost = nothing;
        int at = VectorSearch<channels>::most_tried;
        for (int i = lane; i < tried; i += 32)
            if (search.tried[i].cost < cost) {
                cost = search.tried[i].cost;
                at = i;
            }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            const auto other_cost = __shfl_xor_sync(~0u, cost, step);
            const int other_at = __shfl_xor_sync(~0u, at, step);
            if (other_cost < cost || (other_cost == cost && other_at < at)) {
                cost = other_cost;
                at = other_at;
            }
        }
        if (cost == nothing) break;
        const auto best = search.tried[at].vector;
        if (lane == 0) search.found[found] = {best, cost};
        __syncwarp();
        for (int i = lane; i < tried; i += 32)
            if (search.tried[i].vector == best) search.tried[i].cost = nothing;
        __syncwarp();
    }
    if (lane == 0) search.found_count = found;
}

/// Adds the cost of the prediction error to the vectors `first` to `tried` - 1, with four lanes per vector. All threads
/// call it.
template <int channels>
__device__ void find_costs(VectorSearch<channels>& search, int height, int first, int tried) {
    const int row = static_cast<int>(threadIdx.x) % pair_lanes * 2;
    for (int base = first; base < tried; base += static_cast<int>(blockDim.x) / pair_lanes) {
        const int i = base + static_cast<int>(threadIdx.x) / pair_lanes;
        int cost = 0;
        bool counts = false;
        if (i < tried) {
            const auto vector = search.tried[i].vector;
            counts = search.tried[i].cost != nothing;
            if (counts) cost = motion_cost_of_rows(search.camera, search.window, vector, row, height, search.threshold);
        }
#pragma unroll
        for (int step = 1; step < pair_lanes; step *= 2) cost += __shfl_xor_sync(~0u, cost, step);
        if (counts && row == 0) search.tried[i].cost += static_cast<std::uint32_t>(cost);
    }
}

/// Returns a candidate with the cost of signalling it, or with `nothing` for the zero vector and vectors out of range.
__device__ inline TriedVector to_try(MotionVector vector, int cost) {
    const bool none = vector == MotionVector{} || abs(vector.x) > max_motion || abs(vector.y) > max_motion;
    return {vector, none ? nothing : static_cast<std::uint32_t>(cost)};
}

/// Finds the vectors that MotionSearch finds for a sub-block of `height` rows and stores them in `search.found`. The
/// camera's samples and the window must be loaded. All threads call it.
///
///     pass 1   vectors of the left and upper neighbour, and the full grid of whole pixels within `range`
///     pass 2   the best of them, and 3x3 vectors at half pixels around each
///     pass 3   the same at quarter pixels
template <int channels>
__device__ void find_vectors(const NearParts& near, int height, VectorSearch<channels>& search) {
    const int side = 2 * search.range + 1, grid = side * side, tried = 2 + grid;
    for (int i = static_cast<int>(threadIdx.x); i < tried; i += static_cast<int>(blockDim.x)) {
        TriedVector of{{}, nothing};
        if (i == 0) {
            if (near.has_left()) of = to_try(near.left.vector, near_vector_cost());
        } else if (i == 1) {
            if (near.has_above()) of = to_try(near.above.vector, near_vector_cost());
        } else {
            const MotionVector vector{((i - 2) % side - search.range) * quarters,
                                      ((i - 2) / side - search.range) * quarters};
            of = to_try(vector, new_vector_cost(vector));
        }
        search.tried[i] = of;
    }
    __syncthreads();
    find_costs(search, height, 0, tried);
    __syncthreads();
    if (threadIdx.x < 32) keep_best(search, tried, search.wanted);
    __syncthreads();
    // Refine around the best vectors, first by half pixels, then by quarter pixels.
    for (const int step : {2, 1}) {
        const int centres = search.found_count, around = centres + centres * 9;
        if (static_cast<int>(threadIdx.x) < around) {
            const int i = static_cast<int>(threadIdx.x);
            TriedVector of;
            if (i < centres) {
                of = search.found[i];
            } else {
                const int number = i - centres, at = number % 9;
                const auto centre = search.found[number / 9].vector;
                const MotionVector vector{centre.x + (at % 3 - 1) * step, centre.y + (at / 3 - 1) * step};
                of = to_try(vector, new_vector_cost(vector));
            }
            search.tried[i] = of;
        }
        __syncthreads();
        find_costs(search, height, centres, around);
        __syncthreads();
        if (threadIdx.x < 32) keep_best(search, around, search.wanted);
        __syncthreads();
    }
}

}  // namespace framewire::delta
