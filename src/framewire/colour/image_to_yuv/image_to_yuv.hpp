#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>

namespace framewire {

/// BGR or gray images to YUV pictures of 8 bits (docs/colour.md has the arithmetic). A chroma sample is the mean of the
/// pixels around its site, weighted symmetrically; borders are replicated. Each byte is within 1 of what the standards'
/// formulas give; grays get chroma of 128 exactly. In and out: any strides, no overlap.
class ImageToYuv {
public:
    /// `channels` of the image: 3 or 1. Throws Error{usage} on a picture or a channel count that is not allowed.
    ImageToYuv(const YuvInfo& picture, int channels, Executor& executor);
    /// The same on these threads of the CPU, for callers that have no executor.
    ImageToYuv(const YuvInfo& picture, int channels, const ThreadPool& threads);

    const YuvInfo& picture() const { return picture_; }
    Shape image_shape() const { return {picture_.frames, picture_.height, picture_.width, channels_}; }

    /// On the executor's threads; returns when done.
    void run(HostView<const std::uint8_t> image, const HostYuv<std::uint8_t>& picture) const;
    /// Queued on the executor's stream.
    void run(DeviceView<const std::uint8_t> image, const DeviceYuv<std::uint8_t>& picture) const;

    /// Rows of the image that those of the first picture are made from. Pictures of 4:2:0 are made two rows at a time:
    /// `made` begins at an even one, and ends at one or with the picture.
    RowRange rows_needed(const RowRange& made) const;
    /// Rows `made` of the first picture from those, on the calling thread. For three channels `rows` may have one,
    /// which stands for three that are equal.
    void run_rows(const ImageRows<const std::uint8_t>& rows, const RowRange& made,
                  const HostYuv<std::uint8_t>& picture) const;

private:
    YuvInfo picture_;
    int channels_;
    const ThreadPool* threads_;
    Executor* executor_ = nullptr;
};

}  // namespace framewire
