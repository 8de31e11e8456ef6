#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>

namespace framewire {

/// Weights that reduce a pixel to one number: (b * B + g * G + r * R + rounding) >> 15, which must be 0 to 255.
/// Weights must not be negative, and `rounding` must be below 2^15.
struct ChannelWeights {
    std::int16_t b, g, r, rounding;
};

/// Converts YUV pictures to BGR images, or to gray images, which use luma only; docs/colour.md has the
/// arithmetic. Chroma is interpolated linearly between its sites. Borders are replicated. Each byte is within 1
/// of the exact formulas (ITU-R BT.601, BT.709, BT.2020). Input and output may have any strides and must not
/// overlap; 16-bit words must be at even addresses.
class YuvToImage {
public:
    /// Prepares a conversion to images with 3 or 1 `channels`. `executor` must outlive the object. Throws
    /// Error{usage} if the picture or the number of channels is not allowed.
    YuvToImage(const YuvInfo& picture, int channels, Executor& executor);
    /// Prepares the conversion on a CPU thread pool, for callers without an executor.
    YuvToImage(const YuvInfo& picture, int channels, const ThreadPool& threads);

    /// Returns the description of the pictures that run() takes.
    const YuvInfo& picture() const { return picture_; }
    /// Returns the shape of the images that run() writes.
    Shape image_shape() const { return {picture_.frames, picture_.height, picture_.width, channels_}; }

    /// Converts on the executor's threads and returns when done. Throws Error{usage} if a shape does not match.
    void run(const HostYuv<const std::uint8_t>& picture, HostView<std::uint8_t> image) const;
    /// Queues the conversion on the executor's stream. Throws Error{usage} if a shape does not match.
    void run(const DeviceYuv<const std::uint8_t>& picture, DeviceView<std::uint8_t> image) const;
    /// Queues the conversion on `stream`, for callers without an executor. Throws Error{usage} if a shape does not
    /// match.
    void run(const DeviceYuv<const std::uint8_t>& picture, DeviceView<std::uint8_t> image,
             const cuda::Stream& stream) const;

    /// Converts some rows of the first picture on the calling thread, for callers that process the rows while they are
    /// in a core's cache. Several threads may call it at once.
    void run_rows(const HostYuv<const std::uint8_t>& picture, const ImageRows<std::uint8_t>& rows) const;
    /// Converts like run_rows() above, but reduces each pixel to one number by `weights`. Needs a conversion to three
    /// channels; `rows` have one channel.
    void run_rows(const HostYuv<const std::uint8_t>& picture, const ImageRows<std::uint8_t>& rows,
                  const ChannelWeights& weights) const;

private:
    YuvInfo picture_;
    int channels_;
    const ThreadPool* threads_;
    Executor* executor_ = nullptr;
};

}  // namespace framewire
