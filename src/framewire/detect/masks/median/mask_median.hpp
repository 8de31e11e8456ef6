#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks/bit_mask.hpp"

#include <cstdint>

namespace framewire {

inline constexpr int least_mask_median_px = 3, most_mask_median_px = 63;

/// Median filter of bit masks: a pixel is set if more than half of the pixels in a square window around it are
/// set; edge pixels are replicated beyond the image. Equals OpenCV's medianBlur() on images of 0 and 255. It
/// removes specks and closes pinholes while edges stay in place. Input and output have the same shape and must
/// not overlap.
///
/// Pixels are counted 32 or more at a time with bit-sliced adders: a count is stored as words that each hold
/// one binary digit of many pixels. The counts of the columns are updated from row to row, and those of a
/// window are made from the columns by doubling.
class MaskMedian {
public:
    /// `size_px` is the side of the window, odd, from least_mask_median_px to most_mask_median_px. Throws
    /// Error{usage} if the size or the shape is not allowed.
    MaskMedian(int size_px, const Shape& shape, Executor& executor);

    /// The shape of the masks, with one channel, and the side of the window.
    const Shape& shape() const { return shape_; }
    int size_px() const { return size_px_; }

    /// Runs on the executor's threads and returns when done. Throws Error{usage} if the masks have another
    /// shape.
    void run(HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out) const;
    /// The same, queued on the executor's stream.
    void run(DeviceBitMaskView<const std::uint32_t> in, DeviceBitMaskView<std::uint32_t> out) const;

private:
    int size_px_;
    Shape shape_;
    Executor* executor_;
};

}  // namespace framewire
