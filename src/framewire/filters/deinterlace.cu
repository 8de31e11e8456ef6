#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/deinterlace.hpp"

#include <cstdint>

namespace framewire {
namespace {

constexpr int threads_per_block = 256;

// A byte and its neighbours above and below. At an edge, the line inside replaces the one outside.
struct Bytes {
    int above, here, below;

    // Reads the bytes of column x around row y.
    __device__ Bytes(const cuda::KernelImage<const std::uint8_t>& image, int frame, int y, int height, int x)
        : here(image.row(frame, y)[x]) {
        const int inside = height > 1 ? 1 : 0;
        above = image.row(frame, y > 0 ? y - 1 : inside)[x];
        below = image.row(frame, y + 1 < height ? y + 1 : height - 1 - inside)[x];
    }
};

// One thread per byte. Grid: y counts rows, z frames.
__global__ void __launch_bounds__(threads_per_block)
    deinterlace_kernel(cuda::KernelImage<const std::uint8_t> in, cuda::KernelImage<const std::uint8_t> previous,
                       cuda::KernelImage<std::uint8_t> out, Shape shape, DeinterlaceMethod method, bool keeps_bottom,
                       int threshold) {
    const auto x = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x);
    if (x >= shape.width * shape.channels) return;
    const auto y = static_cast<int>(blockIdx.y), frame = static_cast<int>(blockIdx.z);
    const Bytes now(in, frame, y, shape.height, x);
    int value = now.here;
    if (method == DeinterlaceMethod::blend) {
        value = deinterlaced_blend(now.above, now.here, now.below);
    } else if ((y % 2 == 1) != keeps_bottom) {
        if (method == DeinterlaceMethod::linear) {
            value = deinterlaced_linear(now.above, now.below);
        } else {
            const Bytes before(previous, frame, y, shape.height, x);
            value = deinterlaced_adaptive(now.above, now.here, now.below, before.above, before.here, before.below,
                                          threshold);
        }
    }
    out.row(frame, y)[x] = static_cast<std::uint8_t>(value);
}

}  // namespace

// The same kernel also copies the lines of the field that is kept.
void Deinterlace::run(const FilterImages<MemorySpace::device>& images) const {
    const auto method = method_for(images);
    cuda::for_frames(shape_.frames, 1, [&](int first, int frames) {
        const dim3 grid(cuda::blocks(shape_.width * shape_.channels, threads_per_block),
                        static_cast<unsigned>(shape_.height), static_cast<unsigned>(frames));
        cuda::Launch(executor_->stream(), grid, threads_per_block)(
            deinterlace_kernel, cuda::KernelImage(images.in).from_frame(first),
            cuda::KernelImage(images.previous).from_frame(first), cuda::KernelImage(images.out).from_frame(first),
            shape_, method, parameters_.keeps_bottom, parameters_.threshold);
    });
}

}  // namespace framewire
