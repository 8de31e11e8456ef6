#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

namespace framewire::delta {

/// From where a part is moved, in quarters of a pixel.
struct MotionVector {
    int x = 0, y = 0;

    friend bool operator==(const MotionVector&, const MotionVector&) = default;
};

/// Furthest that a part is moved from, each way.
inline constexpr int max_motion = 63;
inline constexpr int quarters = 4;

// What motion costs, roughly, in 1/16 bits; measured. A sample beyond the threshold, each further step, and a bit.
inline constexpr int motion_sample_cost = 44, motion_step_cost = 20, motion_bit_cost = 16;

/// What telling a vector costs: a new one's bits grow with its length, as its symbols do.
FRAMEWIRE_HOST_DEVICE constexpr int near_vector_cost() { return 2 * motion_bit_cost; }
FRAMEWIRE_HOST_DEVICE constexpr int new_vector_cost(MotionVector vector) {
    const int x = vector.x < 0 ? -vector.x : vector.x, y = vector.y < 0 ? -vector.y : vector.y;
    int width = 0;
    while ((x + y) / quarters >> width) ++width;
    return motion_bit_cost * (6 + 2 * width);
}

}  // namespace framewire::delta
