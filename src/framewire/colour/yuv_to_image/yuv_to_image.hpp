#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/rows/channel_rows.hpp"
#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>

namespace framewire {

/// One number of a pixel: (b * B + g * G + r * R + rounding) >> 15, which is 0 to 255. The weights are not negative,
/// and rounding is below 2^15.
struct ChannelWeights {
    std::int16_t b, g, r, rounding;
};

/// YUV pictures to BGR images, or to gray ones, which take the brightness alone (docs/colour.md has the arithmetic).
/// Chroma is interpolated linearly where it is sited; borders are replicated. Each byte is within 1 of what the
/// standards' formulas give. In and out: any strides, no overlap; words of 16 bits at even addresses.
class YuvToImage {
public:
    /// `channels` of the image: 3 or 1. Throws Error{usage} on a picture or a channel count that is not allowed.
    YuvToImage(const YuvInfo& picture, int channels, Executor& executor);
    /// The same on these threads of the CPU, for callers that have no executor.
    YuvToImage(const YuvInfo& picture, int channels, const ThreadPool& threads);

    const YuvInfo& picture() const { return picture_; }
    Shape image_shape() const { return {picture_.frames, picture_.height, picture_.width, channels_}; }

    /// On the executor's threads; returns when done.
    void run(const HostYuv<const std::uint8_t>& picture, HostView<std::uint8_t> image) const;
    /// Queued on the executor's stream.
    void run(const DeviceYuv<const std::uint8_t>& picture, DeviceView<std::uint8_t> image) const;

    /// Some rows of the image of the first picture, on the calling thread: for who works on them while they are in a
    /// core's cache.
    void run_rows(const HostYuv<const std::uint8_t>& picture, const ImageRows<std::uint8_t>& rows) const;
    /// The same of an image of three channels, of whose pixels `weights` make one number each: `rows` have one channel.
    void run_rows(const HostYuv<const std::uint8_t>& picture, const ImageRows<std::uint8_t>& rows,
                  const ChannelWeights& weights) const;
    /// The same rows as run_rows() makes, with their channels apart.
    void run_rows(const HostYuv<const std::uint8_t>& picture, const ChannelRows& rows) const;

private:
    YuvInfo picture_;
    int channels_;
    const ThreadPool* threads_;
    Executor* executor_ = nullptr;
};

}  // namespace framewire
