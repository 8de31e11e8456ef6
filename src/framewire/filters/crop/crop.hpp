#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry/pixel_moves.hpp"

namespace framewire {

/// A rectangle of an image, in pixels.
struct CropParameters {
    /// Upper left corner.
    int x = 0, y = 0;
    /// Size.
    int width = 0, height = 0;
};

/// Makes a plan that copies the rectangle `parameters` out of each image of `shape`. Throws Error{usage} if the shape
/// is not allowed or the rectangle is not entirely inside the image.
PixelMoves crop(const CropParameters& parameters, const Shape& shape, Executor& executor);

/// Registry entry of `crop`.
FilterInfo crop_info();

}  // namespace framewire
