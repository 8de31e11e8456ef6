#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry/pixel_moves.hpp"

namespace framewire {

/// A larger picture and where in it the image is, in pixels.
struct PadParameters {
    int width = 0, height = 0;
    int x = 0, y = 0;
    Pixel color = 0;  ///< of what is around
};

/// Each image in a larger one of one colour. Throws Error{usage} on shapes that are not allowed and where the image
/// does not fit.
PixelMoves pad(const PadParameters& parameters, const Shape& shape, Executor& executor);

/// The registry's entry.
FilterInfo pad_info();

}  // namespace framewire
