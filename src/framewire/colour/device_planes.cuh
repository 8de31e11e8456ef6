#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"

#include <cstdint>

// Helpers of both conversions on the GPU; include them only in .cu files. A lane handles 16 pixels of a row and a warp
// 512 adjacent ones, so that loads and stores are vectors of 16 bytes:
//
//     row of pixels:  | lane 0: 0..15 | lane 1: 16..31 | ... | lane 31: 496..511 |

namespace framewire {

inline constexpr int lane_px = 16;
inline constexpr int warp_lanes = 32;
inline constexpr int block_warps = 4;  // warps per block; each has its own row or group of rows

using InImage = cuda::KernelImage<const std::uint8_t>;
using OutImage = cuda::KernelImage<std::uint8_t>;

/// Converts a plane to the type that kernels take as an argument.
template <class Byte>
cuda::KernelImage<Byte> image_of(const YuvPlane<Byte>& plane) {
    return {plane.data, plane.row_stride_bytes, plane.frame_stride_bytes};
}

/// Splits the frames into batches that fit the depth of a grid, and calls launch(grid, first frame) for each batch.
template <class Launch>
void for_grids(int width, int row_groups, int frames, Launch&& launch) {
    cuda::for_frames(frames, 1, [&](int first, int some_frames) {
        launch(dim3(cuda::blocks(width, lane_px * warp_lanes), cuda::blocks(row_groups, block_warps),
                    static_cast<unsigned>(some_frames)),
               first);
    });
}

/// Packs four numbers, clamped to 0..255, into the bytes of a word; `n0` becomes the lowest byte.
inline __device__ std::uint32_t held_bytes(int n0, int n1, int n2, int n3) {
    std::uint32_t high, all;
    // Two instructions convert, clamp and pack four numbers.
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(n3), "r"(n2));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(n1), "r"(n0), "r"(high));
    return all;
}

/// Returns byte `at` of an array of words.
inline __device__ int byte_of(const std::uint32_t* words, int at) {
    return static_cast<int>(__byte_perm(words[at / 4], 0, 0x4440 | (at % 4)));
}

/// Loads `count` words. `from` must be aligned to their total size if that is 8 bytes, otherwise to 16 bytes.
template <int count>
__device__ void load_words(const std::uint8_t* from, std::uint32_t* words) {
    if constexpr (count == 2) {
        const auto pair = __ldg(reinterpret_cast<const uint2*>(from));
        words[0] = pair.x;
        words[1] = pair.y;
    } else {
#pragma unroll
        for (int at = 0; at < count; at += 4) {
            const auto four = __ldg(reinterpret_cast<const uint4*>(from) + at / 4);
            words[at] = four.x;
            words[at + 1] = four.y;
            words[at + 2] = four.z;
            words[at + 3] = four.w;
        }
    }
}

/// Loads samples of `sample_bytes` bytes (1, 2 or 3), starting with sample `first`, into words. Repeats the last of the
/// row's `count` samples beyond the end of the row. Needs no alignment.
template <int words_count, int sample_bytes>
__device__ void load_held(const std::uint8_t* row, int first, int count, std::uint32_t* words) {
#pragma unroll
    for (int word = 0; word < words_count; ++word) {
        words[word] = 0;
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) {
            const int at = 4 * word + byte;
            const int sample = min(first + at / sample_bytes, count - 1);
            words[word] |= static_cast<std::uint32_t>(row[sample * sample_bytes + at % sample_bytes]) << (8 * byte);
        }
    }
}

/// Stores the first `bytes` bytes of an array of words. Needs no alignment.
template <int words_count>
__device__ void store_some(const std::uint32_t* words, int bytes, std::uint8_t* to) {
#pragma unroll
    for (int at = 0; at < 4 * words_count; ++at)
        if (at < bytes) to[at] = static_cast<std::uint8_t>(words[at / 4] >> (at % 4 * 8));
}

/// Stores 48 bytes from each of the first `lanes` lanes of a warp contiguously at `to`, which is aligned to 16 bytes.
/// The lanes exchange the data through shared memory, so that each store of the warp covers 512 contiguous bytes
/// instead of 32 pieces of half a sector. All lanes of the warp must call it; the words of the remaining lanes are
/// ignored.
inline __device__ void store_by_warp(const std::uint32_t (&words)[12], int lanes, std::uint8_t* to) {
    __shared__ uint4 staged[block_warps][3 * warp_lanes];
    const int lane = static_cast<int>(threadIdx.x);
    auto* of_warp = staged[threadIdx.y];
#pragma unroll
    for (int third = 0; third < 3; ++third)
        of_warp[3 * lane + third] = {words[4 * third], words[4 * third + 1], words[4 * third + 2],
                                     words[4 * third + 3]};
    __syncwarp();
    auto* vectors = reinterpret_cast<uint4*>(to);
#pragma unroll
    for (int third = 0; third < 3; ++third)
        if (warp_lanes * third + lane < 3 * lanes)
            vectors[warp_lanes * third + lane] = of_warp[warp_lanes * third + lane];
    __syncwarp();
}

}  // namespace framewire
