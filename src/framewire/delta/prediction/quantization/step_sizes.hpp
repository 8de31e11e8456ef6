#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

// Choice of the step size and of the keyframe's form, shared by the CPU and the GPU. The constants were measured on
// webcam and traffic scenes.

namespace framewire::delta {

namespace step_sizes {

/// Numbers of the step sizes as Quantizer counts them.
inline constexpr int largest = 0, third = 1, single = 2;

}  // namespace step_sizes

/// Returns the step size to try first. `furthest` is the largest difference between the block and the previous picture;
/// `fresh`: there is no previous picture. Noise that barely exceeds the bound is followed as little as possible.
FRAMEWIRE_HOST_DEVICE constexpr int first_step_size(int threshold, int furthest, bool fresh) {
    return !fresh && furthest <= threshold + threshold / 4 ? step_sizes::single : step_sizes::third;
}

/// Returns true if the largest step size is worth a try, after the first attempt took `steps` steps on `samples`
/// samples.
FRAMEWIRE_HOST_DEVICE constexpr bool tries_largest(int threshold, std::uint32_t steps, std::uint32_t samples) {
    return threshold > 0 && 2 * steps > 3 * samples;
}

/// Returns true if the largest step size is chosen. It leaves R further from the camera, which later costs more than an
/// eighth of the block.
FRAMEWIRE_HOST_DEVICE constexpr bool takes_largest(std::uint64_t cost, std::uint64_t first_cost) {
    return 8 * cost < 7 * first_cost;
}

/// Returns the threshold for a keyframe, a quarter of that for delta frames. If the keyframe used the whole threshold,
/// the next delta frames would cost more than it saves. Measured on vtest: its first second is smallest at about a
/// quarter.
constexpr int first_threshold(int threshold) { return threshold / 4; }

/// Returns true if the near keyframe is chosen instead of the lossless one. The lossless one makes later frames cheaper
/// by about an eighth of its size.
FRAMEWIRE_HOST_DEVICE constexpr bool takes_near_picture(std::uint64_t bytes, std::uint64_t whole_bytes) {
    return 8 * bytes < 7 * whole_bytes;
}

}  // namespace framewire::delta
