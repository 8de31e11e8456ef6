#pragma once

#include "framewire/cuda/stream.hpp"

#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/filters/border.hpp"
#include "framewire/filters/median/histogram/median_histogram_blocks.hpp"

#include <cstdint>

namespace framewire {

/// A batch as the CUDA kernels see it. `in` and `out` have the same shape.
struct MedianImages {
    /// First frame of the launch.
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    /// Shape of the images.
    int width, height, channels;
    int frames;  ///< as many as fit a grid
};

/// Queues the median of size 3, which sorts rows in registers.
void median_of_nine_on_device(const MedianImages& images, Border border, const cuda::Stream& stream);

/// Queues the median of sizes 5 and 7, by sorting networks.
void network_median_on_device(const MedianImages& images, int size, Border border, const cuda::Stream& stream);

/// Allows the kernel for an odd size from 9 to 15 to use the shared memory that it needs. Call it when planning, before
/// strip_median_on_device().
void allow_strip_median(int size, int channels);
/// Queues the median of odd sizes 9 to 15, by sorting networks whose tiles share strips. Blocks use at most
/// `shared_bytes` of shared memory.
void strip_median_on_device(const MedianImages& images, int size, Border border, int shared_bytes,
                            const cuda::Stream& stream);

/// Allows the histogram kernels to use the shared memory that they need. Call it when planning.
void allow_histogram_median();
/// Queues the median of odd sizes 3 to 255 by sliding histograms, with the image divided into `blocks`.
void histogram_median_on_device(const MedianImages& images, int size, Border border,
                                const MedianHistogramBlocks& blocks, const cuda::Stream& stream);

}  // namespace framewire
