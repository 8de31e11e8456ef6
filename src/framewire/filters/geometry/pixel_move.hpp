#pragma once

#include "framewire/filters/geometry/pixel_map.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

namespace framewire {

/// Pixels of an image that go to other places, unchanged.
struct PixelMove {
    PixelMap map{};
    Pixel outside = 0;  ///< the colour where the map leads outside the image
    Shape to{};         ///< of the result
};

}  // namespace framewire
