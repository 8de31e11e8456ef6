#include "framewire/cuda/kernel.cuh"
#include "ladders/mosaic/mosaic_kernels.hpp"

#include <algorithm>

namespace framewire::bench {
namespace {

// Parameters of the kernels that add and average.
struct Frame {
    const std::uint8_t* in;
    std::uint8_t* out;
    int width, height, cell_px, columns;
    std::uint32_t *sums, *counts;
    unsigned long long* totals;
};

Frame frame_of(const MosaicJob& job) {
    return {job.in, job.out, job.width, job.height, job.cell_px, job.columns(), job.sums, job.counts, job.totals};
}

__device__ std::uint32_t cell_of(const Frame& frame, std::uint32_t pixel) {
    const auto y = pixel / frame.width, x = pixel % frame.width;
    return y / frame.cell_px * frame.columns + x / frame.cell_px;
}

// Totals have 64 bits: the report's 32 bits hold 16.8 million white pixels, but its 6000x4000 frame has 24 million.
__global__ void mosaic_add_global_atomics(Frame frame) {
    const auto pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= static_cast<std::uint32_t>(frame.width) * frame.height) return;
    const auto cell = cell_of(frame, pixel);
    for (int channel = 0; channel < 3; ++channel) {
        const std::uint32_t value = frame.in[pixel * 3 + channel];
        atomicAdd(frame.sums + cell * 3 + channel, value);
        atomicAdd(frame.totals + channel, static_cast<unsigned long long>(value));
    }
    atomicAdd(frame.counts + cell, 1u);
}

// The report's block has one thread for each of the cell's pixels, which no launch allows for cells over 32, and omits
// the cell's last pixel (threadIdx < capacity - 1). Here the block's threads loop over the cell's pixels.
__global__ void mosaic_add_shared_atomics(Frame frame) {
    __shared__ std::uint32_t sums[3];
    if (threadIdx.x < 3) sums[threadIdx.x] = 0;
    __syncthreads();
    const int left = static_cast<int>(blockIdx.x) * frame.cell_px, top = static_cast<int>(blockIdx.y) * frame.cell_px;
    const int width = min(frame.cell_px, frame.width - left), height = min(frame.cell_px, frame.height - top);
    for (int i = static_cast<int>(threadIdx.x); i < width * height; i += static_cast<int>(blockDim.x)) {
        const auto pixel = static_cast<std::uint32_t>(top + i / width) * frame.width + left + i % width;
        for (int channel = 0; channel < 3; ++channel)
            atomicAdd(sums + channel, std::uint32_t{frame.in[pixel * 3 + channel]});
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    const auto cell = blockIdx.y * frame.columns + blockIdx.x;
    for (int channel = 0; channel < 3; ++channel) {
        atomicAdd(frame.sums + cell * 3 + channel, sums[channel]);
        atomicAdd(frame.totals + channel, static_cast<unsigned long long>(sums[channel]));
    }
    atomicAdd(frame.counts + cell, static_cast<std::uint32_t>(width * height));
}

// Rounds half up; the report truncates.
__global__ void mosaic_average(Frame frame) {
    const auto pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= static_cast<std::uint32_t>(frame.width) * frame.height) return;
    const auto cell = cell_of(frame, pixel);
    const auto count = frame.counts[cell];
    for (int channel = 0; channel < 3; ++channel)
        frame.out[pixel * 3 + channel] =
            static_cast<std::uint8_t>((2 * frame.sums[cell * 3 + channel] + count) / (2 * count));
}

unsigned blocks_of_pixels(const MosaicJob& job, int threads) { return cuda::blocks(job.width * job.height, threads); }

}  // namespace

void mosaic_add_in_global_memory(const MosaicJob& job, int threads, const cuda::Stream& stream) {
    cuda::Launch(stream, blocks_of_pixels(job, threads), static_cast<unsigned>(threads))(mosaic_add_global_atomics,
                                                                                         frame_of(job));
}

void mosaic_add_in_shared_memory(const MosaicJob& job, int threads, const cuda::Stream& stream) {
    const dim3 grid(static_cast<unsigned>(job.columns()), static_cast<unsigned>(job.rows()));
    // At most as many threads as the cell has pixels.
    const int wanted = cuda::parts(job.cell_px * job.cell_px, 32) * 32;
    cuda::Launch(stream, grid, static_cast<unsigned>(std::min(threads, wanted)))(mosaic_add_shared_atomics,
                                                                                 frame_of(job));
}

void mosaic_write_means(const MosaicJob& job, int threads, const cuda::Stream& stream) {
    cuda::Launch(stream, blocks_of_pixels(job, threads), static_cast<unsigned>(threads))(mosaic_average, frame_of(job));
}

}  // namespace framewire::bench
