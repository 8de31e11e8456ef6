#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/detect/background/mean/mean_background.hpp"

#include <algorithm>

// Running mean on the GPU. A thread owns four adjacent pixels of one row through a whole batch:
//
//     means (global) -> registers -> frame 0: write background, update -> frame 1: ... -> means (global)

namespace framewire {
namespace mean_background_kernels {
namespace {

constexpr int threads_per_block = 256;
constexpr int pixels_per_thread = 4;

// The images of a launch.
struct Images {
    cuda::KernelImage<const std::uint8_t> frames;
    cuda::KernelImage<std::uint8_t> backgrounds;
    int count, height, width;
};

// Loads four bytes of a row, starting with pixel x; bytes after the end of the row are 0.
template <bool aligned>
__device__ std::uint32_t load_four(const std::uint8_t* row, int x, int width) {
    if (aligned && x + pixels_per_thread <= width) return __ldg(reinterpret_cast<const std::uint32_t*>(row + x));
    std::uint32_t four = 0;
    for (int i = 0; i < pixels_per_thread; ++i)
        if (x + i < width) four |= std::uint32_t{__ldg(row + x + i)} << (8 * i);
    return four;
}

// Stores four bytes, without those after the end of the row.
template <bool aligned>
__device__ void store_four(std::uint32_t four, std::uint8_t* row, int x, int width) {
    if (aligned && x + pixels_per_thread <= width) {
        *reinterpret_cast<std::uint32_t*>(row + x) = four;
        return;
    }
    for (int i = 0; i < pixels_per_thread; ++i)
        if (x + i < width) row[x + i] = static_cast<std::uint8_t>(four >> (8 * i));
}

// The means of a thread's four pixels stay in registers from the first frame of a batch to the last.
template <bool aligned>
__global__ void __launch_bounds__(threads_per_block)
    mean_kernel(Images images, std::uint32_t* means, std::uint32_t rate) {
    const int x = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x) * pixels_per_thread;
    const int y = static_cast<int>(blockIdx.y);
    if (x >= images.width) return;
    const auto* in = images.frames.data + y * images.frames.row_stride;
    auto* out = images.backgrounds.data + y * images.backgrounds.row_stride;
    auto* own = means + static_cast<std::int64_t>(y) * images.width + x;
    std::uint32_t mean[pixels_per_thread];
#pragma unroll
    for (int i = 0; i < pixels_per_thread; ++i) mean[i] = x + i < images.width ? own[i] : 0;
    auto next = load_four<aligned>(in, x, images.width);
    for (int frame = 0; frame < images.count; ++frame) {
        const auto four = next;
        // Prefetches the pixels of the next frame.
        if (frame + 1 < images.count) next = load_four<aligned>(in += images.frames.frame_stride, x, images.width);
        std::uint32_t background = 0;
#pragma unroll
        for (int i = 0; i < pixels_per_thread; ++i) {
            const auto value = static_cast<std::uint8_t>(four >> (8 * i));
            if (mean[i] == no_mean) mean[i] = std::uint32_t{value} << mean_fraction_bits;
            background |= std::uint32_t{gray_of_mean(mean[i])} << (8 * i);
            mean[i] = mean_after(mean[i], value, rate);
        }
        store_four<aligned>(background, out, x, images.width);
        out += images.backgrounds.frame_stride;
    }
#pragma unroll
    for (int i = 0; i < pixels_per_thread; ++i)
        if (x + i < images.width) own[i] = mean[i];
}

}  // namespace
}  // namespace mean_background_kernels

// Aligned images are read and written as words of four pixels.
void MeanBackground::run(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> backgrounds) {
    using namespace mean_background_kernels;
    const auto shape = shape_.with_frames(frames.shape().frames);
    validate(frames, shape, "the frames of the background's mean");
    validate(backgrounds, shape, "the backgrounds");
    constexpr int pixels_per_block = threads_per_block * pixels_per_thread;
    const dim3 grid(cuda::blocks(shape.width, pixels_per_block), static_cast<unsigned>(shape.height));
    const Images images{cuda::KernelImage(frames), cuda::KernelImage(backgrounds), shape.frames, shape.height,
                        shape.width};
    const bool words = images.frames.aligned_to(4) && images.backgrounds.aligned_to(4);
    const auto kernel = words ? mean_kernel<true> : mean_kernel<false>;
    cuda::Launch(executor_->stream(), grid, threads_per_block)(kernel, images, means_.as<std::uint32_t>(), rate_);
}

}  // namespace framewire
