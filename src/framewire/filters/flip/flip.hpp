#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry/pixel_moves.hpp"

namespace framewire {

/// Parameters of flip(). Both together are a half turn.
struct FlipParameters {
    bool left_right = true;   ///< swap left and right
    bool top_bottom = false;  ///< swap top and bottom
};

/// Makes a plan that mirrors each image. Throws Error{usage} on a shape that is not allowed.
PixelMoves flip(const FlipParameters& parameters, const Shape& shape, Executor& executor);

/// Registry entry of `flip`.
FilterInfo flip_info();

}  // namespace framewire
