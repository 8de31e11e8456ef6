#pragma once

#include "framewire/cuda/stream.hpp"

#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/filters/border.hpp"
#include "framewire/filters/median/histogram/median_histogram_blocks.hpp"

#include <cstdint>

namespace framewire {

/// The CUDA kernels' view of a batch: in and out of one shape.
struct MedianImages {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int width, height, channels;
    int frames;  ///< for which a grid has room
};

/// Size 3, rows sorted in registers.
void median_of_nine_on_device(const MedianImages& images, Border border, const cuda::Stream& stream);

/// Sizes 5 and 7, by sorting networks.
void network_median_on_device(const MedianImages& images, int size, Border border, const cuda::Stream& stream);

/// Odd sizes 9 to 15, by sorting networks whose tiles share strips: lets a plan's launches have the shared memory they
/// need; then launches with at most `shared_bytes` of it a block.
void allow_strip_median(int size, int channels);
void strip_median_on_device(const MedianImages& images, int size, Border border, int shared_bytes,
                            const cuda::Stream& stream);

/// Odd sizes 3 to 255, by histograms that slide down and along: the same, cut into `blocks`.
void allow_histogram_median();
void histogram_median_on_device(const MedianImages& images, int size, Border border,
                                const MedianHistogramBlocks& blocks, const cuda::Stream& stream);

}  // namespace framewire
