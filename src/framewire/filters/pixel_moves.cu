#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/kernel.cuh"
#include "framewire/filters/pixel_moves.hpp"

#include <cstdint>

// Moves on the GPU: one kernel reads and writes quads of pixels, forwards or mirrored; a second one transposes tiles.

namespace framewire {
namespace {

constexpr int block_width = 32, block_height = 8;
constexpr int tile_px = 32;  // side of a tile that a block transposes

// Arguments of the kernels.
struct MoveJob {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int in_width, in_height, out_width, out_height;
    PixelMap map;
    Pixel outside;
};

// Reads one pixel.
template <int channels>
__device__ Pixel load(const std::uint8_t* from) {
    if constexpr (channels == 3)
        return pixel_of(from[0], from[1], from[2]);
    else
        return from[0];
}

// Writes one pixel.
template <int channels>
__device__ void store(Pixel pixel, std::uint8_t* to) {
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) to[channel] = static_cast<std::uint8_t>(pixel >> 8 * channel);
}

// Loads pixels x to x + 3 of a row of `row_bytes` bytes, all of them inside the row. Uses aligned words even if the row
// itself is not aligned, and bytes if a word would reach beyond the row.
template <int channels>
__device__ Quad<channels> load_quad(const std::uint8_t* row, int row_bytes, int x) {
    const auto* from = row + x * channels;
    const auto shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) & 3);
    const auto* words = reinterpret_cast<const std::uint32_t*>(from - shift);
    Quad<channels> quad{};
    if (x * channels >= static_cast<int>(shift) &&
        (x + quad_px) * channels + (shift ? 4 : 0) - static_cast<int>(shift) <= row_bytes) {
        std::uint32_t loaded[channels + 1];
#pragma unroll
        for (int word = 0; word <= channels; ++word) loaded[word] = word < channels || shift ? __ldg(words + word) : 0;
#pragma unroll
        for (int word = 0; word < channels; ++word)
            quad.plane[word] = __funnelshift_r(loaded[word], loaded[word + 1], 8 * shift);
        return planes_of(quad);
    }
    for (int pixel = 0; pixel < quad_px; ++pixel)
#pragma unroll
        for (int channel = 0; channel < channels; ++channel)
            quad.plane[channel] |= std::uint32_t{from[pixel * channels + channel]} << (8 * pixel);
    return quad;
}

// Kernel for maps that are not transposed. One thread per four adjacent pixels; blockIdx.z counts frames.
template <int channels>
__global__ void __launch_bounds__(block_width* block_height) move_kernel(MoveJob job, bool aligned) {
    const int x = static_cast<int>(blockIdx.x * block_width + threadIdx.x) * quad_px;
    const int y = static_cast<int>(blockIdx.y * block_height + threadIdx.y);
    const int frame = static_cast<int>(blockIdx.z);
    if (x >= job.out_width || y >= job.out_height) return;
    // The sources of the four pixels lie in one row.
    const int from_y = job.map.source_y(x, y);
    const bool row_inside = from_y >= 0 && from_y < job.in_height;
    const auto* row = job.in.row(frame, row_inside ? from_y : 0);
    const int begin = job.map.source_x(x, y), end = job.map.source_x(x + quad_px - 1, y), left = min(begin, end);
    Quad<channels> quad{};
    if (row_inside && left >= 0 && max(begin, end) < job.in_width) {
        quad = load_quad<channels>(row, job.in_width * channels, left);
        if (job.map.step_x < 0)
#pragma unroll
            for (auto& plane : quad.plane) plane = __byte_perm(plane, 0, 0x0123);
    } else {
        for (int pixel = 0; pixel < quad_px; ++pixel) {
            const int from_x = job.map.source_x(x + pixel, y);
            const bool inside = row_inside && from_x >= 0 && from_x < job.in_width;
            const auto value = inside ? load<channels>(row + from_x * channels) : job.outside;
#pragma unroll
            for (int channel = 0; channel < channels; ++channel)
                quad.plane[channel] |= (value >> 8 * channel & 255) << (8 * pixel);
        }
    }
    store_quad(job.out.row(frame, y), x, job.out_width, aligned, quad);
}

// Kernel for transposed maps, one block per tile of the result. Tiles go through shared memory, so that both images are
// accessed along their rows.
template <int channels>
__global__ void __launch_bounds__(block_width* block_height) transpose_kernel(MoveJob job) {
    // [x of the result][y of the result]; the added column avoids bank conflicts.
    __shared__ Pixel tile[tile_px][tile_px + 1];
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

// Launches the kernel for the map.
template <int channels>
void launch(const MoveJob& job, int frames, const cuda::Stream& stream) {
    const dim3 block(block_width, block_height);
    const auto of_frames = static_cast<unsigned>(frames);
    if (job.map.transposed)
        cuda::Launch(stream,
                     dim3(cuda::blocks(job.out_width, tile_px), cuda::blocks(job.out_height, tile_px), of_frames),
                     block)(transpose_kernel<channels>, job);
    else
        cuda::Launch(stream,
                     dim3(cuda::blocks(job.out_width, block_width * quad_px),
                          cuda::blocks(job.out_height, block_height), of_frames),
                     block)(move_kernel<channels>, job, job.out.aligned_to(quad_px));
}

}  // namespace

// Launches as many frames at a time as fit a grid.
void PixelMoves::run(const FilterImages<MemorySpace::device>& images) const {
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
        to_.channels == 3 ? launch<3>(job, frames, executor_->stream()) : launch<1>(job, frames, executor_->stream());
    });
}

}  // namespace framewire
