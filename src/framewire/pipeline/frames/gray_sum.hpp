#pragma once

#include "framewire/colour/yuv_to_image/yuv_to_image.hpp"
#include "framewire/filters/gray_input/gray_weights.hpp"

#include <cstdint>

namespace framewire {

namespace detail {
inline constexpr GrayWeights weighted_gray = gray_weights(GrayMethod::weighted);
}

/// The gray of the filter `gray` (weighted), for YuvToImage::run_summed_rows().
inline constexpr ByteWeights gray_sum{detail::weighted_gray.b, detail::weighted_gray.g, detail::weighted_gray.r,
                                      static_cast<std::int16_t>(detail::weighted_gray.rounding)};

}  // namespace framewire
