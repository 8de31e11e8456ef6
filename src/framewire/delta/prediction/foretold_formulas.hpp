#pragma once

#include "framewire/core/host_device.hpp"

namespace framewire::delta {

/// 0 where a picture is flat beside the threshold, to 3 where it is steep.
FRAMEWIRE_HOST_DEVICE constexpr int slope_of(int rise, int threshold) {
    return rise < threshold / 3 ? 0 : rise < threshold ? 1 : rise < 2 * threshold ? 2 : 3;
}

/// The channel whose slope counts: green, or gray.
FRAMEWIRE_HOST_DEVICE constexpr int slope_channel(int channels) { return channels == 3 ? 1 : 0; }

}  // namespace framewire::delta
