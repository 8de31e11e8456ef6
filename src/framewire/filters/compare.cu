#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/compare.hpp"

#include <cstdint>

namespace framewire {
namespace {

constexpr int threads_per_block = 256;

// An image and the rectangle of the result that it fills.
struct PlacedPart {
    cuda::KernelImage<const std::uint8_t> image;
    int channels;
    JoinPart part;

    // Reads the byte for one channel of the result at (x, y). Returns false if the rectangle does not contain that
    // pixel.
    __device__ bool take(int frame, int y, int x, int channel, std::uint8_t& byte) const {
        const int part_x = x - part.x, part_y = y - part.y;
        if (part_x < 0 || part_x >= part.width || part_y < 0 || part_y >= part.height) return false;
        byte = image.row(frame, part_y)[(part_x + part.from_x) * channels + min(channel, channels - 1)];
        return true;
    }
};

// One thread per byte of the result. Grid: y counts rows, z frames.
__global__ void __launch_bounds__(threads_per_block)
    compare_kernel(PlacedPart first, PlacedPart result, cuda::KernelImage<std::uint8_t> out, Shape shape) {
    const auto at = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x);
    if (at >= shape.width * shape.channels) return;
    const auto y = static_cast<int>(blockIdx.y), frame = static_cast<int>(blockIdx.z);
    const int x = at / shape.channels, channel = at % shape.channels;
    // The pixel is black unless one of the rectangles contains it.
    std::uint8_t byte = 0;
    if (!first.take(frame, y, x, channel, byte)) result.take(frame, y, x, channel, byte);
    out.row(frame, y)[at] = byte;
}

}  // namespace

// Each launch takes as many frames as fit a grid.
void Compare::run(const FilterImages<MemorySpace::device>& images) const {
    validate_images(images);
    const auto placed = [&](const JoinPart& part, int first) {
        const auto& image = part.original ? images.original : images.in;
        return PlacedPart{cuda::KernelImage(image).from_frame(first), image.shape().channels, part};
    };
    cuda::for_frames(output_.frames, 1, [&](int first, int frames) {
        const dim3 grid(cuda::blocks(output_.width * output_.channels, threads_per_block),
                        static_cast<unsigned>(output_.height), static_cast<unsigned>(frames));
        cuda::Launch(executor_->stream(), grid, threads_per_block)(
            compare_kernel, placed(parts_[0], first), placed(parts_[1], first),
            cuda::KernelImage(images.out).from_frame(first), output_);
    });
}

}  // namespace framewire
