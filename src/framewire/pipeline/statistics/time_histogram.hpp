#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire {

/// What a stage's times are like.
struct TimeSummary {
    double mean_ms = 0;
    double median_ms = 0;
    double p99_ms = 0;  ///< the 99th percentile
    double min_ms = 0, max_ms = 0;
};

/// How many times a stage took no longer than each of some limits, as monitoring systems want it.
struct TimeBuckets {
    static constexpr std::array<double, 14> limits_ms{0.5, 1, 2, 5, 10, 15, 20, 30, 40, 60, 100, 200, 500, 1000};

    std::array<std::int64_t, limits_ms.size()> within{};  ///< each limit's, those of the limits before included
    std::int64_t count = 0;
    double sum_ms = 0;
};

/// Counts durations in bins of about equal relative width, so that percentiles of any number of them come from a fixed
/// 21 KiB: within 1 % of the exact value up to 19 hours. Mean, minimum and maximum are exact. Not thread-safe.
class TimeHistogram {
public:
    /// Negative and undefined times count as 0, those beyond the last bin into it. Does not allocate.
    void add(double ms);

    std::int64_t count() const { return count_; }

    /// The time that `share` (0..1) of all do not exceed (nearest rank); 0 when there are none.
    double percentile_ms(double share) const;
    TimeSummary summary() const;
    /// Times within 1 % of a limit may count on either side of it.
    TimeBuckets buckets() const;

private:
    // Times are whole nanoseconds. The first 2^7 bins hold one value each; from there on each power of two has 2^6.
    static constexpr int linear_bits = 7;
    static constexpr int bins_per_octave = 1 << (linear_bits - 1);
    static constexpr int largest_bits = 46;
    static constexpr std::size_t bins = (1 << linear_bits) + (largest_bits - linear_bits) * bins_per_octave;

    static std::size_t bin_of(std::uint64_t ns);
    static double middle_ns(std::size_t bin);

    std::array<std::int64_t, bins> counts_{};
    std::int64_t count_ = 0;
    double sum_ms_ = 0, min_ms_ = 0, max_ms_ = 0;
};

}  // namespace framewire
