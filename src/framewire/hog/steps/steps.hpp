#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/hog/hog.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// Results of Hog's steps for one frame, each a dense image of the frame's size.
struct HogSteps {
    HostImage gray, gamma;
    std::vector<std::int16_t> gx, gy;  ///< -1020 to 1020; central differences -255 to 255
    std::vector<float> magnitude;
    std::vector<float> direction;  ///< in degrees, from 0 to below 180, or 360 for signed gradients
};

/// Computes the steps of one frame on the calling thread, with the code that Hog runs on the CPU. It allocates,
/// so it is for pictures and not for the frame path.
HogSteps hog_steps(HostView<const std::uint8_t> frame, bool signed_gradients,
                   HogGradient gradient = HogGradient::sobel);

}  // namespace framewire
