#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::session {

/// What all descriptors of a run are like.
class DescriptorSummary {
public:
    /// The next frame's.
    void add(std::span<const float> values) {
        // Side by side, so that the processor adds several at once.
        constexpr std::size_t lanes = 16;
        float largest[lanes] = {};
        double sums[lanes] = {};
        std::size_t at = 0;
        for (; at + lanes <= values.size(); at += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                largest[lane] = std::max(largest[lane], values[at + lane]);
                sums[lane] += values[at + lane];
            }
        for (; at < values.size(); ++at) {
            largest[0] = std::max(largest[0], values[at]);
            sums[0] += values[at];
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            largest_ = std::max(largest_, largest[lane]);
            sum_ += sums[lane];
        }
        values_ += std::ssize(values);
        ++frames_;
    }

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
