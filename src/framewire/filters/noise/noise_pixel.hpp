#pragma once

#include "framewire/filters/noise/noise.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

namespace framewire {

/// The color of noisy pixels.
inline constexpr Pixel red = pixel_of(0, 0, 255);

/// Returns true if any channel of two pixels differs by more than the threshold.
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

/// The picture under the red pixels: black, the frame or the previous one.
enum class NoiseUnder { nothing, frame, previous };

/// The picture under the red pixels for these parameters.
FRAMEWIRE_HOST_DEVICE inline NoiseUnder noise_under(const NoiseParameters& parameters) {
    if (parameters.mode == NoiseMode::mask) return NoiseUnder::nothing;
    return parameters.base == NoiseBase::frame ? NoiseUnder::frame : NoiseUnder::previous;
}

/// Result for one pixel: what lies under the red, with the red channel set if the pixel is noisy.
FRAMEWIRE_HOST_DEVICE inline Pixel noise_pixel(Pixel now, Pixel before, int threshold, NoiseUnder under) {
    const Pixel base = under == NoiseUnder::frame ? now : under == NoiseUnder::previous ? before : 0;
    return base | (is_noisy(now, before, threshold) ? red : 0);
}

/// noise_pixel() on the GPU, for passes that fuse several filters.
class NoiseOnDevice {
public:
    /// Takes threshold and background from an operation of noise_info().
    explicit NoiseOnDevice(const PointwiseOp& op)
        : threshold_(op.values[0]), under_(static_cast<NoiseUnder>(op.values[1])) {}
    /// Result for one pixel, given its value now and in the previous frame.
    FRAMEWIRE_HOST_DEVICE Pixel operator()(Pixel now, Pixel before) const {
        return noise_pixel(now, before, threshold_, under_);
    }

private:
    int threshold_;
    NoiseUnder under_;
};

}  // namespace framewire
