#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace framewire::delta {

/// How far what was foretold is corrected: nothing within the threshold, beyond it in steps. Every corrected sample is
/// within the threshold of the true one.
class Quantizer {
public:
    /// A block may choose among so many sizes of a step: the largest that keeps the bound, about a third of it, and 1.
    static constexpr int size_bits = 2;
    static constexpr int sizes = 3;

    Quantizer(int threshold, int size) : threshold_(threshold), size_(size), step_(step_of(threshold, size)) {}

    /// Steps of less than 3 make for other magnitudes.
    bool fine() const { return step_ < 3; }
    int threshold() const { return threshold_; }
    int size() const { return size_; }
    int step() const { return step_; }
    /// What the first step adds.
    int first_step() const { return threshold_ + (step_ + 1) / 2; }

    /// The fewest that bring `foretold` within the threshold of `sample`. Noise that leaves the bound by a little is
    /// thus not followed all the way, and few steps take few bits.
    int steps(int sample, int foretold) const {
        const int difference = sample - foretold, distance = std::abs(difference);
        if (distance <= threshold_) return 0;
        const int beyond_one = distance - first_step() - threshold_;
        const int count = beyond_one > 0 ? (beyond_one - 1) / step_ + 2 : 1;
        return difference > 0 ? count : -count;
    }
    /// Steps of up to 512 either way are allowed, whoever they come from.
    std::uint8_t sample(int foretold, int steps) const {
        if (steps == 0) return static_cast<std::uint8_t>(foretold);
        const int far = first_step() + (std::abs(steps) - 1) * step_;
        return static_cast<std::uint8_t>(std::clamp(steps > 0 ? foretold + far : foretold - far, 0, 255));
    }

private:
    static int step_of(int threshold, int size) {
        const int largest = 2 * threshold + 1;
        return size == 0 ? largest : size == 1 ? (largest / 3) | 1 : 1;
    }

    int threshold_, size_, step_;
};

}  // namespace framewire::delta
