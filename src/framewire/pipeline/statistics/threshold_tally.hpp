#pragma once

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Thresholds that the delta frames of a difference stream were made with.
struct ThresholdFigures {
    int min = 0;
    double mean = 0;
    int max = 0;
    int last = 0;  ///< of the newest delta frame
};

/// Collects thresholds, one per delta frame. Not thread-safe.
class ThresholdTally {
public:
    /// Adds the threshold of one delta frame.
    void add(int threshold) {
        min_ = count_ ? std::min(min_, threshold) : threshold;
        max_ = std::max(max_, threshold);
        last_ = threshold;
        sum_ += threshold;
        ++count_;
    }
    /// Returns the number of thresholds.
    std::int64_t count() const { return count_; }
    /// Returns the statistics; all 0 if nothing was added.
    ThresholdFigures figures() const {
        return {min_, count_ ? static_cast<double>(sum_) / static_cast<double>(count_) : 0.0, max_, last_};
    }

private:
    int min_ = 0, max_ = 0, last_ = 0;
    std::int64_t sum_ = 0, count_ = 0;
};

}  // namespace framewire
