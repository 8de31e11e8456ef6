#include "framewire/colour/deinterleave.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"

#include <cstdint>

// Separates interleaved chroma on the GPU. A lane reads 16 bytes of a row and writes 8 to each plane:
//
//     NV12    U0 V0 U1 V1 ... U7 V7    ->    U0 ... U7,  V0 ... V7      (bytes)
//     P010    U0 V0 U1 V1 U2 V2 U3 V3  ->    U0 ... U3,  V0 ... V3      (words, >> 6)
//
// For luma, the lanes of the same kernel write 16 bytes to one plane.

namespace framewire {
namespace {

using InImage = cuda::KernelImage<const std::uint8_t>;
using OutImage = cuda::KernelImage<std::uint8_t>;

constexpr int lane_bytes = 16;
constexpr int block_lanes = 64, block_rows = 4;
constexpr int unused_bits = 6;  // lower bits of a word of P010

// Arguments of the kernel. `v` is not used for luma.
struct Job {
    InImage from;
    OutImage to, v;
    int row_bytes, rows;
    int first_frame;
};

// Moves the samples of two words to the lower bits. Bytes are not moved.
template <int sample_bytes>
__device__ std::uint32_t lowered(std::uint32_t word) {
    if constexpr (sample_bytes == 1) return word;
    return word >> unused_bits & 0x03FF03FFu;
}

// Handles the last samples of a row, and rows without alignment.
template <int sample_bytes, bool pairs>
__device__ void copy_samples(const std::uint8_t* from, std::uint8_t* to, std::uint8_t* v, int count) {
    for (int at = 0; at < count; at += sample_bytes) {
        const int sample = at / sample_bytes;
        auto* plane = pairs && sample % 2 ? v : to;
        const int place = (pairs ? sample / 2 : sample) * sample_bytes;
        if constexpr (sample_bytes == 1) {
            plane[place] = from[at];
        } else {
            const int value = (from[at] | from[at + 1] << 8) >> unused_bits;
            plane[place] = static_cast<std::uint8_t>(value);
            plane[place + 1] = static_cast<std::uint8_t>(value >> 8);
        }
    }
}

template <int sample_bytes, bool pairs, bool aligned>
__global__ void __launch_bounds__(block_lanes* block_rows) deinterleave_kernel(Job job) {
    const int x = static_cast<int>(blockIdx.x * block_lanes + threadIdx.x) * lane_bytes;
    const int y = static_cast<int>(blockIdx.y * block_rows + threadIdx.y);
    const int frame = job.first_frame + static_cast<int>(blockIdx.z);
    if (x >= job.row_bytes || y >= job.rows) return;
    const auto* from = job.from.row(frame, y) + x;
    auto* to = job.to.row(frame, y) + (pairs ? x / 2 : x);
    auto* v = pairs ? job.v.row(frame, y) + x / 2 : nullptr;
    if (!aligned || x + lane_bytes > job.row_bytes)
        return copy_samples<sample_bytes, pairs>(from, to, v, min(lane_bytes, job.row_bytes - x));
    const auto words = __ldg(reinterpret_cast<const uint4*>(from));
    if constexpr (pairs) {
        constexpr unsigned first = sample_bytes == 1 ? 0x6420 : 0x5410, second = sample_bytes == 1 ? 0x7531 : 0x7632;
        const auto take = [&](unsigned selector) {
            return uint2{lowered<sample_bytes>(__byte_perm(words.x, words.y, selector)),
                         lowered<sample_bytes>(__byte_perm(words.z, words.w, selector))};
        };
        *reinterpret_cast<uint2*>(to) = take(first);
        *reinterpret_cast<uint2*>(v) = take(second);
    } else {
        *reinterpret_cast<uint4*>(to) = {lowered<sample_bytes>(words.x), lowered<sample_bytes>(words.y),
                                         lowered<sample_bytes>(words.z), lowered<sample_bytes>(words.w)};
    }
}

template <int sample_bytes, bool pairs>
void launch(Job job, int frames, const cuda::Stream& stream) {
    const bool aligned = job.from.aligned_to(lane_bytes) && job.to.aligned_to(pairs ? lane_bytes / 2 : lane_bytes) &&
                         (!pairs || job.v.aligned_to(lane_bytes / 2));
    cuda::for_frames(frames, 1, [&](int first, int some_frames) {
        job.first_frame = first;
        const dim3 block(block_lanes, block_rows);
        const dim3 grid(cuda::blocks(job.row_bytes, lane_bytes * block_lanes), cuda::blocks(job.rows, block_rows),
                        static_cast<unsigned>(some_frames));
        const cuda::Launch launch(stream, grid, block);
        if (aligned)
            launch(deinterleave_kernel<sample_bytes, pairs, true>, job);
        else
            launch(deinterleave_kernel<sample_bytes, pairs, false>, job);
    });
}

template <class Byte>
cuda::KernelImage<Byte> image_of(const YuvPlane<Byte>& plane) {
    return {plane.data, plane.row_stride_bytes, plane.frame_stride_bytes};
}

}  // namespace

void deinterleave(const DeviceYuv<const std::uint8_t>& from, const DeviceYuv<std::uint8_t>& to,
                  const cuda::Stream& stream) {
    auto pairs = from.info, planes = from.info;
    pairs.format.interleaved = true;
    planes.format.interleaved = false;
    validate(from, pairs, "the picture to deinterleave");
    validate(to, planes, "the deinterleaved picture");
    const auto job_of = [&](std::size_t plane) {
        return Job{image_of(from.planes[plane]),
                   image_of(to.planes[plane]),
                   {},
                   static_cast<int>(from.info.plane_row_bytes(static_cast<int>(plane))),
                   from.info.plane_rows(static_cast<int>(plane)),
                   0};
    };
    const auto luma = job_of(0);
    auto chroma = job_of(1);
    chroma.v = image_of(to.planes[2]);
    if (from.info.sample_bytes() == 1) {
        launch<1, false>(luma, from.info.frames, stream);
        launch<1, true>(chroma, from.info.frames, stream);
    } else {
        launch<2, false>(luma, from.info.frames, stream);
        launch<2, true>(chroma, from.info.frames, stream);
    }
}

}  // namespace framewire
