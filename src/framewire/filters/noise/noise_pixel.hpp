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

/// What the red lies on: nothing, the frame or the one before it.
enum class NoiseUnder { nothing, frame, previous };

FRAMEWIRE_HOST_DEVICE inline NoiseUnder noise_under(const NoiseParameters& parameters) {
    if (parameters.mode == NoiseMode::mask) return NoiseUnder::nothing;
    return parameters.base == NoiseBase::frame ? NoiseUnder::frame : NoiseUnder::previous;
}

FRAMEWIRE_HOST_DEVICE inline Pixel noise_pixel(Pixel now, Pixel before, int threshold, NoiseUnder under) {
    const Pixel base = under == NoiseUnder::frame ? now : under == NoiseUnder::previous ? before : 0;
    return base | (is_noisy(now, before, threshold) ? red : 0);
}

/// The same, in passes that join several filters.
class NoiseOnDevice {
public:
    explicit NoiseOnDevice(const PointwiseOp& op)
        : threshold_(op.values[0]), under_(static_cast<NoiseUnder>(op.values[1])) {}
    FRAMEWIRE_HOST_DEVICE Pixel operator()(Pixel now, Pixel before) const {
        return noise_pixel(now, before, threshold_, under_);
    }

private:
    int threshold_;
    NoiseUnder under_;
};

}  // namespace framewire
