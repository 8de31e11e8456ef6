#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

namespace framewire::delta {

/// Quantizer for the difference between a sample and its prediction: a dead zone of the threshold on both sides, and
/// uniform steps beyond it. Every reconstructed sample is within the threshold of the true one.
///
///     distance   0 .. T        T + 1 .. first_step() + T    the next step() values   ...
///     steps      0             1                            2                        ...
class Quantizer {
public:
    /// Number of bits that select the step size of a block, and number of step sizes: the largest that keeps the bound,
    /// about a third of it, and 1.
    static constexpr int size_bits = 2;
    static constexpr int sizes = 3;

    /// `threshold`: 0..254. `size`: 0 to sizes - 1.
    FRAMEWIRE_HOST_DEVICE Quantizer(int threshold, int size)
        : threshold_(threshold), size_(size), step_(step_of(threshold, size)) {}

    /// Returns true if the step is smaller than 3. Magnitudes then use models of their own.
    FRAMEWIRE_HOST_DEVICE bool fine() const { return step_ < 3; }
    /// Returns the threshold.
    FRAMEWIRE_HOST_DEVICE int threshold() const { return threshold_; }
    /// Returns the number of the step size.
    FRAMEWIRE_HOST_DEVICE int size() const { return size_; }
    /// Returns the step size.
    FRAMEWIRE_HOST_DEVICE int step() const { return step_; }
    /// Returns by how much the first step corrects.
    FRAMEWIRE_HOST_DEVICE int first_step() const { return threshold_ + (step_ + 1) / 2; }

    /// Returns the smallest number of steps, with its sign, that brings `foretold` within the threshold of `sample`.
    /// Few steps take few bits, and noise that barely exceeds the bound is not followed all the way.
    FRAMEWIRE_HOST_DEVICE int steps(int sample, int foretold) const {
        const int difference = sample - foretold, distance = difference < 0 ? -difference : difference;
        if (distance <= threshold_) return 0;
        const int beyond_one = distance - first_step() - threshold_;
        const int count = beyond_one > 0 ? (beyond_one - 1) / step_ + 2 : 1;
        return difference > 0 ? count : -count;
    }
    /// Returns the reconstructed sample, clamped to 0..255. Any magnitude that a stream can
    /// signal is allowed; the arithmetic does not overflow.
    FRAMEWIRE_HOST_DEVICE std::uint8_t sample(int foretold, int steps) const {
        if (steps == 0) return static_cast<std::uint8_t>(foretold);
        const int far = first_step() + ((steps < 0 ? -steps : steps) - 1) * step_;
        const int sample = steps > 0 ? foretold + far : foretold - far;
        return static_cast<std::uint8_t>(sample < 0 ? 0 : sample > 255 ? 255 : sample);
    }

private:
    FRAMEWIRE_HOST_DEVICE static int step_of(int threshold, int size) {
        const int largest = 2 * threshold + 1;
        return size == 0 ? largest : size == 1 ? (largest / 3) | 1 : 1;
    }

    int threshold_, size_, step_;
};

}  // namespace framewire::delta
