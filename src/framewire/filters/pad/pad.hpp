#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry/pixel_moves.hpp"

namespace framewire {

/// Size of a padded picture and position of the image in it, in pixels.
struct PadParameters {
    /// Size of the result.
    int width = 0, height = 0;
    /// Position of the image's upper left corner in the result.
    int x = 0, y = 0;
    Pixel color = 0;  ///< color around the image
};

/// Makes a plan that places each image of `shape` in a larger picture of one color. Throws Error{usage} on shapes that
/// are not allowed, and if the image does not fit.
PixelMoves pad(const PadParameters& parameters, const Shape& shape, Executor& executor);

/// Registry entry of `pad`.
FilterInfo pad_info();

}  // namespace framewire
