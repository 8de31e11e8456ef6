#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

namespace framewire::delta {

/// Offset of a sub-block's prediction in the previous picture, in quarters of a pixel.
struct MotionVector {
    int x = 0, y = 0;

    friend bool operator==(const MotionVector&, const MotionVector&) = default;
};

/// Maximum absolute value of a component.
inline constexpr int max_motion = 63;
/// Units of a vector per pixel.
inline constexpr int quarters = 4;

// Estimated costs in 1/16 bits, measured: of a sample beyond the threshold, of each further step, and of one raw bit.
inline constexpr int motion_sample_cost = 44, motion_step_cost = 20, motion_bit_cost = 16;

/// Returns the estimated cost of signalling a neighbour's vector.
FRAMEWIRE_HOST_DEVICE constexpr int near_vector_cost() { return 2 * motion_bit_cost; }
/// Returns the estimated cost of signalling a new vector, which grows with the logarithm of its length, as its symbols
/// do.
FRAMEWIRE_HOST_DEVICE constexpr int new_vector_cost(MotionVector vector) {
    const int x = vector.x < 0 ? -vector.x : vector.x, y = vector.y < 0 ? -vector.y : vector.y;
    int width = 0;
    while ((x + y) / quarters >> width) ++width;
    return motion_bit_cost * (6 + 2 * width);
}

}  // namespace framewire::delta
