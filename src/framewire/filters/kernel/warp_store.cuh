#pragma once

// For .cu files: how a warp stores BGR pixels if every lane has 16 of them.

#include <cstdint>

namespace framewire {

/// Pixels per lane, 48 bytes.
inline constexpr int lane_px = 16;

/// Most threads in a block that calls store_by_warp().
inline constexpr int warp_store_threads = 256;

/// Returns true, for all lanes of a warp or for none, if each lane has 16 pixels of one row of `row_px` and the lanes'
/// pixels are adjacent. `x` is the lane's first pixel.
inline __device__ bool is_whole_warp(std::int64_t x, std::int64_t row_px) {
    const auto first = x - threadIdx.x % 32 * lane_px;
    return first >= 0 && first + 32 * lane_px <= row_px;
}

/// Stores 48 bytes per lane. `to` is the lane's own address, a multiple of 16 and 48 bytes after that of the previous
/// lane. The bytes are exchanged between lanes in shared memory, so that each store instruction of the warp writes 512
/// contiguous bytes; direct stores would write every vector as a separate half sector. Call it with all lanes of a
/// warp, any number of times.
inline __device__ void store_by_warp(const uint4& a, const uint4& b, const uint4& c, std::uint8_t* to) {
    __shared__ uint4 staged[warp_store_threads / 32][96];
    const auto lane = threadIdx.x % 32;
    auto* of_warp = staged[threadIdx.x / 32];
    // A lane's 48 bytes start 12 banks after those of the previous lane, so eight lanes do not conflict.
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
