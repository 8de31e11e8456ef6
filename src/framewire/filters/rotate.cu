#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/rotate.hpp"

#include <cstdint>

// Rotation by any angle on the GPU: each thread interpolates one pixel from the four pixels around its source.

namespace framewire {
namespace {

// Blocks are nearly square, because such areas of the result read the smallest part of the image.
constexpr int block_width = 32, block_height = 8;

// Arguments of the kernel.
struct BlendJob {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int in_width, in_height, out_width, out_height;
    // Map from result to image.
    RotateMap map;
    // Colour outside the image.
    Pixel color;
};

// Interpolates one pixel per thread; blockIdx.z counts frames.
template <int channels>
__global__ void __launch_bounds__(block_width* block_height) blend_kernel(BlendJob job) {
    const int x = static_cast<int>(blockIdx.x * block_width + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * block_height + threadIdx.y);
    const int frame = static_cast<int>(blockIdx.z);
    if (x >= job.out_width || y >= job.out_height) return;
    const auto along = rotate_place(job.map.start_x + x * job.map.step_x - y * job.map.step_y);
    const auto down = rotate_place(job.map.start_y + x * job.map.step_y + y * job.map.step_x);
    auto* out = job.out.row(frame, y) + x * channels;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) {
        const auto at = [&](int from_x, int from_y) -> int {
            const bool inside = from_x >= 0 && from_x < job.in_width && from_y >= 0 && from_y < job.in_height;
            return inside ? job.in.row(frame, from_y)[from_x * channels + channel] : channel_of(job.color, channel);
        };
        out[channel] = static_cast<std::uint8_t>(
            rotate_blend(at(along.pixel, down.pixel), at(along.pixel + 1, down.pixel), at(along.pixel, down.pixel + 1),
                         at(along.pixel + 1, down.pixel + 1), along.behind, down.behind));
    }
}

}  // namespace

// Launches as many frames at a time as fit a grid.
void Rotate::blend(const FilterImages<MemorySpace::device>& images) const {
    const cuda::KernelImage in(images.in);
    const cuda::KernelImage out(images.out);
    const auto& stream = executor_->stream();
    cuda::for_frames(to_.frames, 1, [&](int first, int frames) {
        const BlendJob job{in.from_frame(first),
                           out.from_frame(first),
                           from_.width,
                           from_.height,
                           to_.width,
                           to_.height,
                           map_,
                           color_};
        const dim3 grid(cuda::blocks(to_.width, block_width), cuda::blocks(to_.height, block_height),
                        static_cast<unsigned>(frames)),
            block(block_width, block_height);
        if (to_.channels == 3)
            cuda::Launch(stream, grid, block)(blend_kernel<3>, job);
        else
            cuda::Launch(stream, grid, block)(blend_kernel<1>, job);
    });
}

}  // namespace framewire
