#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry/pixel_moves.hpp"

namespace framewire {

/// A part of an image, in pixels.
struct CropParameters {
    int x = 0, y = 0;
    int width = 0, height = 0;
};

/// A part of each image. Throws Error{usage} on a shape that is not allowed and on a part that is not wholly inside the
/// image.
PixelMoves crop(const CropParameters& parameters, const Shape& shape, Executor& executor);

/// The registry's entry.
FilterInfo crop_info();

}  // namespace framewire
