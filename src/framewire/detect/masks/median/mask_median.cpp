#include "framewire/detect/masks/median/mask_median.hpp"

#include "framewire/core/error.hpp"

namespace framewire {

MaskMedian::MaskMedian(int size_px, const Shape& shape, Executor& executor)
    : size_px_(size_px), shape_(shape.with_channels(1)), executor_(&executor) {
    validate(shape_, "the mask");
    if (size_px % 2 == 0 || size_px < least_mask_median_px || size_px > most_mask_median_px)
        fail(ErrorCode::usage, "a mask's median of {} pixels; allowed are odd numbers from {} to {}", size_px,
             least_mask_median_px, most_mask_median_px);
}

}  // namespace framewire
