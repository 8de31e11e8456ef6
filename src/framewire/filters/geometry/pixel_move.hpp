#pragma once

#include "framewire/filters/geometry/pixel_map.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

namespace framewire {

/// A rearrangement of an image's pixels, without change of their values.
struct PixelMove {
    /// From result to image.
    PixelMap map{};
    Pixel outside = 0;  ///< color of pixels whose source lies outside the image
    Shape to{};         ///< shape of the result
};

}  // namespace framewire
