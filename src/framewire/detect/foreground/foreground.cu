#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/detect/foreground/foreground.hpp"
#include "framewire/filters/kernel/quads.cuh"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace foreground_kernels {
namespace {

constexpr int threads_per_block = 256;
constexpr int word_px = 32;

// A thread makes one word of the mask, 32 pixels, from four pixels at a time: absolute differences, comparison
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
            // Four pixels at a time.
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

// Gray images are blurred directly; others are converted to gray first.
void Foreground::blur(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> blurred) {
    validate(frames, shape_, "the frames to blur");
    validate(blurred, gray_shape(), "the blurred images");
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
    validate(mask, gray_shape(), "the foreground's mask");
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
