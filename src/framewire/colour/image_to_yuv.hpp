#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>

namespace framewire {

/// Converts BGR or gray images to YUV pictures of 8 bits; docs/colour.md has the arithmetic. A chroma sample is
/// the mean of the pixels around its site, weighted symmetrically. Borders are replicated. Each byte is within
/// 1 of the exact formulas (ITU-R BT.601, BT.709, BT.2020), and grays get chroma of exactly 128. Input and
/// output may have any strides and must not overlap.
class ImageToYuv {
public:
    /// Prepares a conversion of images with 3 or 1 `channels`. `executor` must outlive the object. Throws
    /// Error{usage} if the picture or the number of channels is not allowed.
    ImageToYuv(const YuvInfo& picture, int channels, Executor& executor);
    /// Prepares the conversion on a CPU thread pool, for callers without an executor.
    ImageToYuv(const YuvInfo& picture, int channels, const ThreadPool& threads);

    /// Returns the description of the pictures that run() writes.
    const YuvInfo& picture() const { return picture_; }
    /// Returns the shape of the images that run() takes.
    Shape image_shape() const { return {picture_.frames, picture_.height, picture_.width, channels_}; }

    /// Converts on the executor's threads and returns when done. Throws Error{usage} if a shape does not match.
    void run(HostView<const std::uint8_t> image, const HostYuv<std::uint8_t>& picture) const;
    /// Queues the conversion on the executor's stream. Throws Error{usage} if a shape does not match.
    void run(DeviceView<const std::uint8_t> image, const DeviceYuv<std::uint8_t>& picture) const;

    /// Returns the image rows that are needed to compute the picture rows `made`. Two rows of 4:2:0 are computed at a
    /// time: `made` must start at an even row, and end at an even row or at the end of the picture.
    RowRange rows_needed(const RowRange& made) const;
    /// Computes the picture rows `made` of the first picture on the calling thread. `rows` must include
    /// rows_needed(made). A conversion of three channels also accepts rows of one channel, which count as three equal
    /// channels. Throws Error{usage} if the rows do not suffice.
    void run_rows(const ImageRows<const std::uint8_t>& rows, const RowRange& made,
                  const HostYuv<std::uint8_t>& picture) const;

private:
    YuvInfo picture_;
    int channels_;
    const ThreadPool* threads_;
    Executor* executor_ = nullptr;
};

}  // namespace framewire
