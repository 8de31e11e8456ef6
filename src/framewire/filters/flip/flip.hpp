#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry/pixel_moves.hpp"

namespace framewire {

struct FlipParameters {
    bool left_right = true;
    bool top_bottom = false;
};

/// Each image mirrored. Throws Error{usage} on a shape that is not allowed.
PixelMoves flip(const FlipParameters& parameters, const Shape& shape, Executor& executor);

/// The registry's entry.
FilterInfo flip_info();

}  // namespace framewire
