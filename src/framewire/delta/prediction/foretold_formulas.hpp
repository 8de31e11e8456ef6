#pragma once

#include "framewire/core/host_device.hpp"

namespace framewire::delta {

/// Classifies the steepness of a prediction relative to the threshold: 0 flat, to 3 steep.
FRAMEWIRE_HOST_DEVICE constexpr int slope_of(int rise, int threshold) {
    return rise < threshold / 3 ? 0 : rise < threshold ? 1 : rise < 2 * threshold ? 2 : 3;
}

/// Returns the channel whose steepness counts: green, or gray.
FRAMEWIRE_HOST_DEVICE constexpr int slope_channel(int channels) { return channels == 3 ? 1 : 0; }

}  // namespace framewire::delta
