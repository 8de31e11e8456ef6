#pragma once

#include "framewire/filters/noise/noise.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

namespace framewire {

inline constexpr Pixel red = pixel_of(0, 0, 255);

/// True when any channel of two pixels differs by more than the threshold.
FRAMEWIRE_HOST_DEVICE inline bool is_noisy(Pixel now, Pixel before, int threshold) {
#ifdef __CUDA_ARCH__
    return __vcmpgtu4(__vabsdiffu4(now, before), static_cast<unsigned>(threshold) * 0x01010101u) != 0;
#else
    for (int channel = 0; channel < 3; ++channel) {
        const int difference = channel_of(now, channel) - channel_of(before, channel);
        if (difference > threshold || -difference > threshold) return true;
    }
    return false;
#endif
}

FRAMEWIRE_HOST_DEVICE inline Pixel noise_pixel(Pixel now, Pixel before, int threshold, bool overlay) {
    return (overlay ? now : 0) | (is_noisy(now, before, threshold) ? red : 0);
}

/// The same, in passes that join several filters.
class NoiseOnDevice {
public:
    explicit NoiseOnDevice(const PointwiseOp& op) : threshold_(op.values[0]), overlay_(op.values[1] != 0) {}
    FRAMEWIRE_HOST_DEVICE Pixel operator()(Pixel now, Pixel before) const {
        return noise_pixel(now, before, threshold_, overlay_);
    }

private:
    int threshold_;
    bool overlay_;
};

}  // namespace framewire
