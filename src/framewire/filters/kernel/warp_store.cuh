#pragma once

// Only for .cu files: how a warp whose lanes have 16 BGR pixels each writes them.

#include <cstdint>

namespace framewire {

/// The pixels of a lane, 48 bytes.
inline constexpr int lane_px = 16;

/// The most threads a block may have that calls store_by_warp().
inline constexpr int warp_store_threads = 256;

/// True for all lanes of a warp or for none: that each has 16 pixels of one row of `row_px`, one lane's beside the
/// other's. `x` is the lane's first pixel.
inline __device__ bool is_whole_warp(std::int64_t x, std::int64_t row_px) {
    const auto first = x - threadIdx.x % 32 * lane_px;
    return first >= 0 && first + 32 * lane_px <= row_px;
}

/// Writes 48 bytes a lane, `to` being the lane's own place, a multiple of 16 bytes and 48 behind that of the lane
/// before. The bytes change lanes in shared memory, so that each store of the warp is 512 bytes in a row; stored where
/// they are, every vector would travel alone, half a sector each. By all lanes of a warp, which may do so repeatedly.
inline __device__ void store_by_warp(const uint4& a, const uint4& b, const uint4& c, std::uint8_t* to) {
    __shared__ uint4 staged[warp_store_threads / 32][96];
    const auto lane = threadIdx.x % 32;
    auto* of_warp = staged[threadIdx.x / 32];
    // A lane's 48 bytes begin 12 banks after the one before's: no two of eight lanes meet.
    of_warp[3 * lane] = a;
    of_warp[3 * lane + 1] = b;
    of_warp[3 * lane + 2] = c;
    __syncwarp();
    auto* vectors = reinterpret_cast<uint4*>(to - 48 * lane);
#pragma unroll
    for (int third = 0; third < 3; ++third) vectors[32 * third + lane] = of_warp[32 * third + lane];
    __syncwarp();
}

}  // namespace framewire
