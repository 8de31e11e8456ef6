#pragma once

#include <cstdint>

namespace framewire::delta {

/// What a part costs if it is foretold by some samples, roughly, in 1/16 bits: for each sample off by more than the
/// threshold some, and more for each step.
struct MotionCost {
    int threshold, step;
    int rows;
    int limit;  ///< from this cost on it does not matter

    /// Rows of 32 samples, those of `part` and `mask` one after the other; where `mask` is 0 nothing counts, where it
    /// is not it is 255.
    int operator()(const std::uint8_t* part, const std::uint8_t* mask, const std::uint8_t* foretold,
                   std::int64_t stride) const;
};

/// Rows of 24 samples (8 of one channel) between pixels, `fraction_x` and `fraction_y` quarters to the right and below.
/// Writes rows of 32.
void interpolate(const std::uint8_t* from, std::int64_t stride, int channels, int fraction_x, int fraction_y, int rows,
                 std::uint8_t* to);

}  // namespace framewire::delta
