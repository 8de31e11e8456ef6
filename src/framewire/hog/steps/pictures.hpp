#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/steps/steps.hpp"

#include <array>
#include <vector>

namespace framewire {

/// What the pictures are called, in their order; the last is of hog_strokes().
inline constexpr std::array<const char*, 7> hog_step_names{"gray",      "gamma",     "gx", "gy",
                                                           "magnitude", "direction", "hog"};

/// A picture of each step, of the frame's size, for looking at.
struct HogPicture {
    const char* name;
    HostImage image;
};

/// All of hog_step_names but the last: `gx` and `gy` (128 is 0, brighter is positive), `magnitude` (its root; white is
/// the largest) and `direction` (as hue, as bright as the magnitude).
std::vector<HogPicture> hog_step_pictures(HogSteps steps, bool signed_gradients);

/// Cells as strokes: one a bin, along the edges that voted for it (across the gradient), as bright as the root of its
/// value; white is the largest of all. A cell has at least 16 pixels a side where the picture's sides allow it.
/// `cells`: one frame, without a norm.
HostImage hog_strokes(HogView<const float, MemorySpace::host> cells, const HogParameters& parameters);

}  // namespace framewire
