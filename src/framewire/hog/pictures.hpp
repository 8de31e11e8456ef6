#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/steps.hpp"

#include <vector>

namespace framewire {

/// A picture of each step, of the frame's size, for looking at.
struct HogPicture {
    const char* name;
    HostImage image;
};

/// `gray`, `gamma`, `gx` and `gy` (128 is 0, brighter is positive), `magnitude` (its root; white is the largest) and
/// `direction` (as hue, as bright as the magnitude).
std::vector<HogPicture> hog_step_pictures(HogSteps steps, bool signed_gradients);

/// Cells as strokes: one a bin, along the edges that voted for it (across the gradient), as bright as the root of its
/// value; white is the largest of all. A cell has at least 16 pixels a side where the picture's sides allow it.
/// `cells`: one frame, without a norm.
HostImage hog_strokes(HogView<const float, MemorySpace::host> cells, const HogParameters& parameters);

}  // namespace framewire
