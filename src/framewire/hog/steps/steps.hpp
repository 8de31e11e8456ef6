#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/hog/hog.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// What Hog goes through for one frame, each step a dense image of the frame's size.
struct HogSteps {
    HostImage gray, gamma;
    std::vector<std::int16_t> gx, gy;  ///< -1020 to 1020; central ones -255 to 255
    std::vector<float> magnitude;
    std::vector<float> direction;  ///< in degrees, 0 to below 180, or 360 for signed gradients
};

/// The steps of one frame, on the calling thread, by the code that Hog runs on the CPU. Allocates: for looking at, not
/// for the frame path.
HogSteps hog_steps(HostView<const std::uint8_t> frame, bool signed_gradients,
                   HogGradient gradient = HogGradient::sobel);

}  // namespace framewire
