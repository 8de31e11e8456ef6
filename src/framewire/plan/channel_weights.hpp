#pragma once

#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/filters/gray_input.hpp"

#include <cstdint>

namespace framewire {

/// Returns the same gray for YuvToImage::run_rows(), which then makes no B, G and R.
constexpr ChannelWeights channel_weights(const GrayWeights& gray) {
    return {gray.b, gray.g, gray.r, static_cast<std::int16_t>(gray.rounding)};
}

}  // namespace framewire
