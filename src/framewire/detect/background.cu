#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/detect/background.hpp"
#include "framewire/filters/kernel.cuh"

#include <algorithm>
#include <cstdint>

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

// Stores four bytes, except those beyond the end of the row.
template <bool aligned>
__device__ void store_four(std::uint32_t four, std::uint8_t* row, int x, int width) {
    if (aligned && x + pixels_per_thread <= width) {
        *reinterpret_cast<std::uint32_t*>(row + x) = four;
        return;
    }
    for (int i = 0; i < pixels_per_thread; ++i)
        if (x + i < width) row[x + i] = static_cast<std::uint8_t>(four >> (8 * i));
}

// Keeps the means of a thread's four pixels in registers from the first frame of a batch to the last.
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

// Reads and writes aligned images as words of four pixels.
void MeanBackground::run(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> backgrounds) {
    using namespace mean_background_kernels;
    const auto shape = shape_.with_frames(frames.shape().frames);
    validate(frames, shape, "the input of the mean background");
    validate(backgrounds, shape, "the backgrounds");
    constexpr int pixels_per_block = threads_per_block * pixels_per_thread;
    const dim3 grid(cuda::blocks(shape.width, pixels_per_block), static_cast<unsigned>(shape.height));
    const Images images{cuda::KernelImage(frames), cuda::KernelImage(backgrounds), shape.frames, shape.height,
                        shape.width};
    const bool words = images.frames.aligned_to(4) && images.backgrounds.aligned_to(4);
    const auto kernel = words ? mean_kernel<true> : mean_kernel<false>;
    cuda::Launch(executor_->stream(), grid, threads_per_block)(kernel, images, means_.as<std::uint32_t>(), rate_);
}

namespace foreground_kernels {
namespace {

constexpr int threads_per_block = 256;
constexpr int word_px = 32;

// Each thread makes one word of the mask (32 pixels), four pixels at a time: absolute differences, comparison
// with the threshold, and a multiplication that gathers the four results in adjacent bits.
__global__ void __launch_bounds__(threads_per_block)
    difference_kernel(cuda::KernelImage<const std::uint8_t> blurred, cuda::KernelImage<const std::uint8_t> background,
                      bool aligned, DeviceBitMaskView<std::uint32_t> mask, std::uint32_t threshold) {
    const auto& shape = mask.shape();
    const auto index = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x;
    if (index >= shape.frames * mask.frame_words()) return;
    const auto row = index / mask.row_words();
    const int frame = static_cast<int>(row / shape.height), y = static_cast<int>(row % shape.height);
    const int x = static_cast<int>(index % mask.row_words()) * word_px;
    const auto* one = blurred.row(frame, y) + x;
    const auto* other = background.row(frame, y) + x;
    std::uint32_t bits = 0;
    if (aligned && x + word_px <= shape.width) {
#pragma unroll
        for (int quad = 0; quad < word_px / quad_px; ++quad) {
            // Compares four pixels at a time.
            const auto differences = __vabsdiffu4(reinterpret_cast<const std::uint32_t*>(one)[quad],
                                                  reinterpret_cast<const std::uint32_t*>(other)[quad]);
            const auto above = __vcmpgtu4(differences, threshold * 0x01010101u) & 0x08040201u;
            bits |= (above * 0x01010101u >> 24) << (quad_px * quad);
        }
    } else {
        for (int pixel = 0; pixel < min(word_px, shape.width - x); ++pixel)
            bits |= static_cast<std::uint32_t>(abs(one[pixel] - other[pixel]) > static_cast<int>(threshold)) << pixel;
    }
    mask.data()[index] = bits;
}

}  // namespace
}  // namespace foreground_kernels

// Blurs gray images directly; converts others to gray first.
void Foreground::blur(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> blurred) {
    validate(frames, shape_, "the input of the blur");
    validate(blurred, gray_shape(), "the output of the blur");
    auto gray = frames;
    if (shape_.channels != 1) {
        gray_.run(FilterImages<MemorySpace::device>{frames, {}, device_gray_.view()});
        gray = device_gray_.view();
    }
    gaussian_.run(FilterImages<MemorySpace::device>{gray, {}, blurred});
}

// One background for the whole batch has a frame stride of 0 in KernelImage, so all frames read it.
void Foreground::run(DeviceView<const std::uint8_t> frames, DeviceView<const std::uint8_t> background,
                     DeviceBitMaskView<std::uint32_t> mask, DeviceView<std::uint8_t> blurred) {
    using namespace foreground_kernels;
    validate(background, gray_shape().with_frames(background.shape().frames == 1 ? 1 : shape_.frames),
             "the background");
    validate(mask, gray_shape(), "the foreground mask");
    if (!blurred.data()) blurred = device_blurred_.view();
    blur(frames, blurred);
    const cuda::KernelImage<const std::uint8_t> blurred_rows(blurred), background_rows(background);
    const auto words = shape_.frames * mask.frame_words();
    const auto blocks = cuda::blocks(words, threads_per_block);
    cuda::Launch(executor_->stream(), blocks, threads_per_block)(
        difference_kernel, blurred_rows, background_rows, blurred_rows.aligned_to(4) && background_rows.aligned_to(4),
        mask, static_cast<std::uint32_t>(threshold_));
}

}  // namespace framewire
