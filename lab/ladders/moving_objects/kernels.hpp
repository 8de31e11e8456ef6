#pragma once

#include "framewire/cuda/stream.hpp"

#include "ladders/moving_objects/frame_size.hpp"

#include <cstdint>

namespace framewire::bench::moving_objects {

/// Launch of a kernel in square blocks of `block_px` x `block_px` threads, one thread per pixel.
struct BlockLaunch {
    FrameSize size;
    int block_px;
    const cuda::Stream& stream;
};

// The steps of moving objects 2023, section 3; each function queues one kernel. All pointers are to device memory;
// images are dense bytes: BGR for the first step, then one channel, with values 0 or 255 after the threshold. A label
// is 0, or one more than the index of another pixel of the component, in 32 bits per pixel. Outside the picture, the
// blur reads its mirror image, as OpenCV does, and the morphology reads neutral values; the report reads black, so that
// erosion removes what touches the border.

void queue_grayscale(const BlockLaunch& launch, const std::uint8_t* bgr, std::uint8_t* gray);
void queue_difference(const BlockLaunch& launch, const std::uint8_t* one, const std::uint8_t* other, std::uint8_t* out);
/// Applies the threshold in place.
void queue_threshold(const BlockLaunch& launch, std::uint8_t* image);

/// v1.0 and v1.1: pixels and the 15x15 matrix of weights or bytes are read from global memory.
void queue_blur(const BlockLaunch& launch, const float* matrix, const std::uint8_t* in, std::uint8_t* out);
void queue_dilate(const BlockLaunch& launch, const std::uint8_t* disc, const std::uint8_t* in, std::uint8_t* out);
void queue_erode(const BlockLaunch& launch, const std::uint8_t* disc, const std::uint8_t* in, std::uint8_t* out);

/// v1.2 and v1.3: queue_matrices() copies the matrices from the host to constant memory, and each block loads the
/// pixels that it needs into shared memory (the report's figures 11 and 12).
void queue_matrices(const float* blur, const std::uint8_t* disc, const cuda::Stream& stream);
void queue_blur_tiled(const BlockLaunch& launch, const std::uint8_t* in, std::uint8_t* out);
void queue_dilate_tiled(const BlockLaunch& launch, const std::uint8_t* in, std::uint8_t* out);
void queue_erode_tiled(const BlockLaunch& launch, const std::uint8_t* in, std::uint8_t* out);

/// Union-find: makes each pixel its own root; merges each with its four preceding neighbours (Rosenfeld's mask, figure
/// 5); points each to its root.
void queue_init_labels(const BlockLaunch& launch, const std::uint8_t* mask, std::int32_t* labels);
void queue_merge_labels(const BlockLaunch& launch, const std::uint8_t* mask, std::int32_t* labels);
void queue_compress_labels(const BlockLaunch& launch, const std::uint8_t* mask, std::int32_t* labels);

}  // namespace framewire::bench::moving_objects
