#pragma once

#include "framewire/filters/pointwise/pixel.hpp"

namespace framewire {

/// The sum of the three channels' differences: where the heat map's table has the pixel's colour.
FRAMEWIRE_HOST_DEVICE inline int heat_of(Pixel now, Pixel before) {
#ifdef __CUDA_ARCH__
    return static_cast<int>(__vsadu4(now, before));
#else
    int sum = 0;
    for (int channel = 0; channel < 3; ++channel) {
        const int difference = channel_of(now, channel) - channel_of(before, channel);
        sum += difference < 0 ? -difference : difference;
    }
    return sum;
#endif
}

}  // namespace framewire
