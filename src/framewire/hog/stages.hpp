#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/hog/hog.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace framewire {

/// Results of Hog's steps for one frame, each a dense image of the frame's size.
struct HogSteps {
    HostImage gray, gamma;
    std::vector<std::int16_t> gx, gy;  ///< -1020 to 1020; for central differences -255 to 255
    std::vector<float> magnitude;
    /// Direction in degrees, at least 0 and below 180, or below 360 for signed gradients.
    std::vector<float> direction;
};

/// Computes the steps of one frame on the calling thread, with the code that Hog runs on the CPU. With
/// HogColour::largest, `gray` and `gamma` are still those of the gray image. Allocates memory, so it is meant for
/// pictures and not for the frame path.
HogSteps hog_steps(HostView<const std::uint8_t> frame, const HogParameters& parameters);

/// Names of the pictures, in order; hog_strokes() draws the last one.
inline constexpr std::array<const char*, 7> hog_step_names{"gray",      "gamma",     "gx", "gy",
                                                           "magnitude", "direction", "hog"};

/// A picture of one step, of the frame's size, for people to look at.
struct HogPicture {
    const char* name;
    HostImage image;
};

/// Returns all pictures of hog_step_names except the last. In `gx` and `gy`, 128 is 0 and brighter is positive.
/// `magnitude` shows the square root, with the largest value white. `direction` shows the direction as hue, with the
/// brightness of `magnitude`.
std::vector<HogPicture> hog_step_pictures(HogSteps steps, bool signed_gradients);

/// Draws cells as strokes, one per bin, along the edges that voted for the bin (across the gradient). Their brightness
/// is the square root of the value, with the largest value white. A cell gets at least 16 pixels per side if the size
/// of the picture allows it. `cells` must be one frame without a norm.
HostImage hog_strokes(HogView<const float, MemorySpace::host> cells, const HogParameters& parameters);

}  // namespace framewire
