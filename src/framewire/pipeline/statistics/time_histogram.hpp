#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire {

/// Summary of a stage's times.
struct TimeSummary {
    double mean_ms = 0;
    double median_ms = 0;
    double p99_ms = 0;  ///< the 99th percentile
    double min_ms = 0, max_ms = 0;
};

/// Cumulative counts of times up to some limits, in the form that monitoring systems such as Prometheus want.
struct TimeBuckets {
    static constexpr std::array<double, 14> limits_ms{0.5, 1, 2, 5, 10, 15, 20, 30, 40, 60, 100, 200, 500, 1000};

    /// Times within each limit, including those within the lower limits.
    std::array<std::int64_t, limits_ms.size()> within{};
    std::int64_t count = 0;
    double sum_ms = 0;
};

/// Counts durations in bins of about equal relative width (as HdrHistogram does), so that percentiles of any
/// number of durations come from a fixed 21 KiB: within 1 % of the exact value for up to 19 hours. Mean,
/// minimum and maximum are exact. Not thread-safe.
class TimeHistogram {
public:
    /// Adds a duration. Negative durations and NaN count as 0, larger ones than the last bin count into it.
    /// Does not allocate.
    void add(double ms);

    /// Returns the number of durations.
    std::int64_t count() const { return count_; }

    /// Returns the duration that `share` (0 to 1) of all durations do not exceed (nearest rank); 0 if there are
    /// none.
    double percentile_ms(double share) const;
    /// Returns mean, median, 99th percentile, minimum and maximum; all 0 if there are no durations.
    TimeSummary summary() const;
    /// Returns cumulative counts. Durations within 1 % of a limit may count on either side of it.
    TimeBuckets buckets() const;

private:
    // Durations are whole nanoseconds. The first 2^7 bins hold one value each; after them each power of two has
    // 2^6 bins.
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
