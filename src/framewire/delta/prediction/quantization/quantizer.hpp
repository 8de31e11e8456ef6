#pragma once

#include "framewire/core/host_device.hpp"

#include <cstdint>

namespace framewire::delta {

/// How far what was foretold is corrected: nothing within the threshold, beyond it in steps. Every corrected sample is
/// within the threshold of the true one.
class Quantizer {
public:
    /// A block may choose among so many sizes of a step: the largest that keeps the bound, about a third of it, and 1.
    static constexpr int size_bits = 2;
    static constexpr int sizes = 3;

    FRAMEWIRE_HOST_DEVICE Quantizer(int threshold, int size)
        : threshold_(threshold), size_(size), step_(step_of(threshold, size)) {}

    /// Steps of less than 3 make for other magnitudes.
    FRAMEWIRE_HOST_DEVICE bool fine() const { return step_ < 3; }
    FRAMEWIRE_HOST_DEVICE int threshold() const { return threshold_; }
    FRAMEWIRE_HOST_DEVICE int size() const { return size_; }
    FRAMEWIRE_HOST_DEVICE int step() const { return step_; }
    /// What the first step adds.
    FRAMEWIRE_HOST_DEVICE int first_step() const { return threshold_ + (step_ + 1) / 2; }

    /// The fewest that bring `foretold` within the threshold of `sample`. Noise that leaves the bound by a little is
    /// thus not followed all the way, and few steps take few bits.
    FRAMEWIRE_HOST_DEVICE int steps(int sample, int foretold) const {
        const int difference = sample - foretold, distance = difference < 0 ? -difference : difference;
        if (distance <= threshold_) return 0;
        const int beyond_one = distance - first_step() - threshold_;
        const int count = beyond_one > 0 ? (beyond_one - 1) / step_ + 2 : 1;
        return difference > 0 ? count : -count;
    }
    /// Steps of up to 512 either way are allowed, whoever they come from.
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
