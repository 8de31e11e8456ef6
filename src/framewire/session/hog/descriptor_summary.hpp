#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::session {

/// Largest value and mean of all descriptors of a run.
class DescriptorSummary {
public:
    /// Adds the values of one frame. They must not be negative.
    void add(std::span<const float> values);

    /// Number of frames added.
    std::int64_t frames() const { return frames_; }
    /// Largest value; 0 without frames.
    float largest() const { return largest_; }
    /// Mean of all values; 0 without frames.
    double mean() const { return values_ > 0 ? sum_ / static_cast<double>(values_) : 0; }

private:
    std::int64_t frames_ = 0, values_ = 0;
    // no value is negative
    float largest_ = 0;
    double sum_ = 0;
};

}  // namespace framewire::session
