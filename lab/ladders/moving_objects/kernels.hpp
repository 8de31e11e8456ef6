#pragma once

#include "framewire/cuda/stream.hpp"

#include "ladders/moving_objects/frame_size.hpp"

#include <cstdint>

namespace framewire::bench::moving_objects {

/// How a kernel is launched: square blocks of `block_px` x `block_px` threads, a thread for each pixel.
struct BlockLaunch {
    FrameSize size;
    int block_px;
    const cuda::Stream& stream;
};

// The steps of moving objects 2023, section 3, each queued as one kernel. All pointers are the GPU's; images are dense,
// of bytes: BGR for the first, one channel from there on, 0 or 255 from the threshold on. Labels are 0, or one more
// than the index of another pixel of the component: 32 bits a pixel. Outside the picture lies its mirror image for the
// blur, as OpenCV has it, and nothing for the morphology; the report takes black, with which erosion eats what touches
// the rim.

void queue_grayscale(const BlockLaunch& launch, const std::uint8_t* bgr, std::uint8_t* gray);
void queue_difference(const BlockLaunch& launch, const std::uint8_t* one, const std::uint8_t* other, std::uint8_t* out);
/// In place.
void queue_threshold(const BlockLaunch& launch, std::uint8_t* image);

/// v1.0 and v1.1: pixels and the matrix of 15x15 weights or bytes are read in global memory.
void queue_blur(const BlockLaunch& launch, const float* matrix, const std::uint8_t* in, std::uint8_t* out);
void queue_dilate(const BlockLaunch& launch, const std::uint8_t* disc, const std::uint8_t* in, std::uint8_t* out);
void queue_erode(const BlockLaunch& launch, const std::uint8_t* disc, const std::uint8_t* in, std::uint8_t* out);

/// v1.2 and v1.3: the matrices lie in constant memory, where this puts them from the host, and each block loads the
/// pixels that it sees into shared memory (the report's figures 11 and 12).
void queue_matrices(const float* blur, const std::uint8_t* disc, const cuda::Stream& stream);
void queue_blur_tiled(const BlockLaunch& launch, const std::uint8_t* in, std::uint8_t* out);
void queue_dilate_tiled(const BlockLaunch& launch, const std::uint8_t* in, std::uint8_t* out);
void queue_erode_tiled(const BlockLaunch& launch, const std::uint8_t* in, std::uint8_t* out);

/// Union-find: each pixel its own root; each joined with the four neighbours before it (Rosenfeld's mask, figure 5);
/// each points to its root.
void queue_init_labels(const BlockLaunch& launch, const std::uint8_t* mask, std::int32_t* labels);
void queue_merge_labels(const BlockLaunch& launch, const std::uint8_t* mask, std::int32_t* labels);
void queue_compress_labels(const BlockLaunch& launch, const std::uint8_t* mask, std::int32_t* labels);

}  // namespace framewire::bench::moving_objects
