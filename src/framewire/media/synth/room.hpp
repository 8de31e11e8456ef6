#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/synth/camera.hpp"

#include <cstdint>

namespace framewire::synth {

/// Paints the static room: walls, wooden floor, furniture, light from a window and a lamp. `seed` varies the wood
/// grain, the books and the pictures. `image` has 3 channels and the camera's size.
void paint_room(const Camera& camera, std::uint64_t seed, HostView<std::uint8_t> image);

}  // namespace framewire::synth
