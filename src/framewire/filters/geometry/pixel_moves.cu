#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/filters/geometry/pixel_moves.hpp"

#include <cstdint>

namespace framewire {
namespace pixel_moves_kernels {
namespace {

constexpr int block_width = 32, block_height = 8;
constexpr int tile_px = 32;  // side of what a block transposes at a time

struct MoveJob {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int in_width, in_height, out_width, out_height;
    PixelMap map;
    Pixel outside;
};

template <int channels>
__device__ Pixel load(const std::uint8_t* from) {
    if constexpr (channels == 3)
        return pixel_of(from[0], from[1], from[2]);
    else
        return from[0];
}

template <int channels>
__device__ void store(Pixel pixel, std::uint8_t* to) {
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) to[channel] = static_cast<std::uint8_t>(pixel >> 8 * channel);
}

// A pixel a thread; blockIdx.z counts frames.
template <int channels>
__global__ void __launch_bounds__(block_width* block_height) move_kernel(MoveJob job) {
    const int x = static_cast<int>(blockIdx.x * block_width + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * block_height + threadIdx.y);
    const int frame = static_cast<int>(blockIdx.z);
    if (x >= job.out_width || y >= job.out_height) return;
    const int from_x = job.map.source_x(x, y), from_y = job.map.source_y(x, y);
    const bool inside = from_x >= 0 && from_x < job.in_width && from_y >= 0 && from_y < job.in_height;
    store<channels>(inside ? load<channels>(job.in.row(frame, from_y) + from_x * channels) : job.outside,
                    job.out.row(frame, y) + x * channels);
}

// A tile of the result a block, by way of shared memory, so that both images are read and written along their rows.
template <int channels>
__global__ void __launch_bounds__(block_width* block_height) transpose_kernel(MoveJob job) {
    __shared__ Pixel tile[tile_px][tile_px + 1];  // [the result's x][its y]; a column more, against bank conflicts
    const int x_begin = static_cast<int>(blockIdx.x) * tile_px, y_begin = static_cast<int>(blockIdx.y) * tile_px;
    const int frame = static_cast<int>(blockIdx.z);
    for (int column = static_cast<int>(threadIdx.y); column < tile_px; column += block_height) {
        const int x = x_begin + column, y = y_begin + static_cast<int>(threadIdx.x);
        if (x < job.out_width && y < job.out_height)
            tile[column][threadIdx.x] =
                load<channels>(job.in.row(frame, job.map.source_y(x, y)) + job.map.source_x(x, y) * channels);
    }
    __syncthreads();
    for (int row = static_cast<int>(threadIdx.y); row < tile_px; row += block_height) {
        const int x = x_begin + static_cast<int>(threadIdx.x), y = y_begin + row;
        if (x < job.out_width && y < job.out_height)
            store<channels>(tile[threadIdx.x][row], job.out.row(frame, y) + x * channels);
    }
}

template <int channels>
void launch(const MoveJob& job, int frames, cudaStream_t stream) {
    const dim3 block(block_width, block_height);
    const auto of_frames = static_cast<unsigned>(frames);
    if (job.map.transposed)
        transpose_kernel<channels>
            <<<dim3(cuda::blocks(job.out_width, tile_px), cuda::blocks(job.out_height, tile_px), of_frames), block, 0,
               stream>>>(job);
    else
        move_kernel<channels>
            <<<dim3(cuda::blocks(job.out_width, block_width), cuda::blocks(job.out_height, block_height), of_frames),
               block, 0, stream>>>(job);
}

}  // namespace
}  // namespace pixel_moves_kernels

void PixelMoves::run(const FilterImages<MemorySpace::device>& images) const {
    using namespace pixel_moves_kernels;
    validate(images.in, from_, "the image");
    validate(images.out, to_, "the result");
    const cuda::KernelImage in(images.in);
    const cuda::KernelImage out(images.out);
    cuda::for_frames(to_.frames, 1, [&](int first, int frames) {
        const MoveJob job{in.from_frame(first),
                          out.from_frame(first),
                          from_.width,
                          from_.height,
                          to_.width,
                          to_.height,
                          map_,
                          outside_};
        to_.channels == 3 ? launch<3>(job, frames, executor_->stream().handle())
                          : launch<1>(job, frames, executor_->stream().handle());
    });
}

}  // namespace framewire
