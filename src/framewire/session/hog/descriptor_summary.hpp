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
        // Side by side, so that the processor adds several at once, and few to a float, which loses nothing that
        // counts.
        constexpr std::size_t lanes = 16, turn = 32 * lanes;
        float largest[lanes] = {};
        for (std::size_t begin = 0; begin < values.size(); begin += turn) {
            const auto end = std::min(begin + turn, values.size());
            float sums[lanes] = {};
            auto at = begin;
            for (; at + lanes <= end; at += lanes)
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    largest[lane] = std::max(largest[lane], values[at + lane]);
                    sums[lane] += values[at + lane];
                }
            for (; at < end; ++at) {
                largest[0] = std::max(largest[0], values[at]);
                sums[0] += values[at];
            }
            for (const float sum : sums) sum_ += sum;
        }
        for (const float one : largest) largest_ = std::max(largest_, one);
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
