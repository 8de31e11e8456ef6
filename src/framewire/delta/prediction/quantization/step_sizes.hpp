#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

// Which size of a step a block takes, the same on the CPU and the GPU; measured on webcam and traffic scenes.

namespace framewire::delta {

namespace step_sizes {

inline constexpr int largest = 0, third = 1, single = 2;

}  // namespace step_sizes

/// The size that is tried first. `furthest`: how far a block's samples are off before; `fresh`: there is nothing
/// before. Noise that barely leaves the bound is best followed as little as can be.
FRAMEWIRE_HOST_DEVICE constexpr int first_step_size(int threshold, int furthest, bool fresh) {
    return !fresh && furthest <= threshold + threshold / 4 ? step_sizes::single : step_sizes::third;
}

/// Whether the largest is worth a try: so many steps on so many samples were taken with the first one.
FRAMEWIRE_HOST_DEVICE constexpr bool tries_largest(int threshold, std::uint32_t steps, std::uint32_t samples) {
    return threshold > 0 && 2 * steps > 3 * samples;
}

/// Whether it is taken. It leaves R further off; what that costs later is more than an eighth of the block.
FRAMEWIRE_HOST_DEVICE constexpr bool takes_largest(std::uint64_t cost, std::uint64_t first_cost) {
    return 8 * cost < 7 * first_cost;
}

/// A first picture is nearer to the camera than the threshold asks for: steps from one that is off by all of it cost
/// more than such a picture saves. The whole of vtest's first second is smallest at about a quarter.
constexpr int first_threshold(int threshold) { return threshold / 4; }

/// Whether the near picture is taken and not the one without loss, which costs fewer bytes later: about an eighth of
/// it.
FRAMEWIRE_HOST_DEVICE constexpr bool takes_near_picture(std::uint64_t bytes, std::uint64_t whole_bytes) {
    return 8 * bytes < 7 * whole_bytes;
}

}  // namespace framewire::delta
