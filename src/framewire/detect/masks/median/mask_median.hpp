#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks/bit_mask.hpp"

#include <cstdint>

namespace framewire {

inline constexpr int least_mask_median_px = 3, most_mask_median_px = 63;

/// The median of bit masks: a pixel is set where more than half are of a square window around it, beyond the image
/// those at its edge (what OpenCV's medianBlur gives of 0 and 255). Specks go and pinholes close, and edges stay where
/// they are. In and out: one shape, no overlap.
///
/// Pixels are counted 32 and more at a time, by numbers whose binary digits are words (bit-sliced adders): those of a
/// column go along with the rows, and those of a window come of the columns' by doubling.
class MaskMedian {
public:
    /// `size_px`: side of the window, odd, least_mask_median_px to most_mask_median_px. Throws Error{usage} on others,
    /// and on a shape that is not allowed.
    MaskMedian(int size_px, const Shape& shape, Executor& executor);

    const Shape& shape() const { return shape_; }
    int size_px() const { return size_px_; }

    /// On the executor's threads; returns when done. Throws Error{usage} on masks of another shape.
    void run(HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out) const;
    /// Queued on the executor's stream.
    void run(DeviceBitMaskView<const std::uint32_t> in, DeviceBitMaskView<std::uint32_t> out) const;

private:
    int size_px_;
    Shape shape_;
    Executor* executor_;
};

}  // namespace framewire
