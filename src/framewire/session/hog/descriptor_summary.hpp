#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::session {

/// What all descriptors of a run are like.
class DescriptorSummary {
public:
    /// The next frame's.
    void add(std::span<const float> values);

    std::int64_t frames() const { return frames_; }
    float largest() const { return largest_; }
    /// 0 without frames.
    double mean() const { return values_ > 0 ? sum_ / static_cast<double>(values_) : 0; }

private:
    std::int64_t frames_ = 0, values_ = 0;
    float largest_ = 0;  // no value is negative
    double sum_ = 0;
};

}  // namespace framewire::session
