#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/detect/adaptive.hpp"

// The adaptive background on the GPU. Per frame:
//
//     frame -> planes -> update_kernel -> foreground -> MaskMedian -> clean -> MaskMorphology -> near
//                             |
//                     model, one warp per block of 32 pixels, one thread per pixel
//
// The planes of a frame stay in the L2 cache. A block of the model is contiguous, so each array that a warp reads is
// one sector of 32 bytes. Most pixels match their first two samples, and the warp then reads no others.

namespace framewire {
namespace {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / 32;
constexpr int block_px = AdaptiveLayout::block_px;
static_assert(block_px == 32, "a warp processes one block");

// Planes that a kernel writes.
struct Planes {
    std::uint8_t *luma, *u, *v;
    std::int64_t stride;
    int width;
};

// Writes luma and chroma, one thread per pixel; blockIdx.y is the row.
template <int channels>
__global__ void __launch_bounds__(threads_per_block)
    planes_kernel(const std::uint8_t* frame, std::int64_t row_stride, Planes planes) {
    const int x = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x);
    if (x >= planes.width) return;
    const auto* pixel = frame + static_cast<std::int64_t>(blockIdx.y) * row_stride + x * channels;
    const auto at = static_cast<std::int64_t>(blockIdx.y) * planes.stride + x;
    if constexpr (channels == 1) {
        planes.luma[at] = pixel[0];
    } else {
        const int b = pixel[0], g = pixel[1], r = pixel[2];
        planes.luma[at] = adaptive_luma(b, g, r);
        planes.u[at] = adaptive_u(b, g, r);
        planes.v[at] = adaptive_v(b, g, r);
    }
}

// Runs update_adaptive(), one thread per pixel. Words of the mask after the last block of a row are cleared.
__global__ void __launch_bounds__(threads_per_block)
    update_kernel(AdaptiveTerms terms, AdaptiveLayout layout, AdaptivePicture picture, AdaptiveMasks masks,
                  const std::uint32_t* frames_seen, std::uint32_t frame, std::uint8_t* model,
                  std::uint32_t* foreground) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto block = static_cast<std::int64_t>(blockIdx.x) * warps_per_block + threadIdx.x / 32;
    if (block >= layout.blocks) return;
    const int y = static_cast<int>(block / layout.row_blocks), word = static_cast<int>(block % layout.row_blocks);
    const int x = word * block_px + lane;
    bool moves = false;
    if (x < picture.width) {
        const auto step = adaptive_step(terms, *frames_seen + frame);
        moves = update_adaptive(terms, step, picture, masks, x, y, adaptive_choice(block, step.frame),
                                {layout, model + block * layout.block_bytes(), lane});
    }
    const auto bits = __ballot_sync(~0u, moves);
    const int own_words = word == layout.row_blocks - 1 ? masks.row_words - word : 1;
    if (lane < own_words)
        foreground[static_cast<std::int64_t>(y) * masks.row_words + word + lane] = lane == 0 ? bits : 0;
}

__global__ void count_kernel(std::uint32_t* frames_seen, std::uint32_t frames) { *frames_seen += frames; }

}  // namespace

void AdaptiveBackground::run(DeviceView<const std::uint8_t> frames, DeviceBitMaskView<std::uint32_t> foreground) {
    check(frames, foreground);
    const auto image = picture();
    const auto plane = [&](int channel) {
        return planes_.data() + channel * plane_bytes() + AdaptivePicture::margin_px;
    };
    const Planes planes{plane(0), shape_.channels == 3 ? plane(1) : nullptr, shape_.channels == 3 ? plane(2) : nullptr,
                        image.stride, shape_.width};
    const dim3 rows(cuda::blocks(shape_.width, threads_per_block), static_cast<unsigned>(shape_.height));
    for (int frame = 0; frame < frames.shape().frames; ++frame) {
        cuda::Launch(executor_->stream(), rows, threads_per_block)(
            shape_.channels == 3 ? planes_kernel<3> : planes_kernel<1>, frames.row(frame, 0), frames.row_stride_bytes(),
            planes);
        const auto* before = frame == 0 ? foreground_.memory().as<std::uint32_t>() : foreground.row(frame - 1, 0);
        cuda::Launch(executor_->stream(), cuda::blocks(layout_.blocks, warps_per_block), threads_per_block)(
            update_kernel, terms_, layout_, image, masks(before), frames_seen_.as<std::uint32_t>(),
            static_cast<std::uint32_t>(frame), model_.data(), foreground.row(frame, 0));
        clean<MemorySpace::device>(foreground.frames(frame, 1));
    }
    const auto last = frames.shape().frames - 1;
    cuda::copy(foreground.row(last, 0), foreground_.memory().as<std::uint32_t>(), bit_mask_bytes(shape_),
               executor_->stream());
    cuda::Launch(executor_->stream(), 1, 1)(count_kernel, frames_seen_.as<std::uint32_t>(),
                                            static_cast<std::uint32_t>(frames.shape().frames));
}

}  // namespace framewire
