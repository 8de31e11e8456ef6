#include "framewire/pipeline/statistics/time_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace framewire {

// Returns the bin of a duration in nanoseconds.
std::size_t TimeHistogram::bin_of(std::uint64_t ns) {
    if (ns < (1u << linear_bits)) return static_cast<std::size_t>(ns);
    // The top linear_bits bits of the value, the highest of which is always 1, select the bin within its
    // octave.
    const int shift = static_cast<int>(std::bit_width(ns)) - linear_bits;
    const auto within = static_cast<std::size_t>(ns >> shift) - bins_per_octave;
    return (1u << linear_bits) + static_cast<std::size_t>(shift - 1) * bins_per_octave + within;
}

// Returns the middle of a bin's range.
double TimeHistogram::middle_ns(std::size_t bin) {
    if (bin < (1u << linear_bits)) return static_cast<double>(bin);
    const auto above = bin - (1u << linear_bits);
    const auto shift = static_cast<int>(above / bins_per_octave) + 1;
    const auto within = static_cast<double>(above % bins_per_octave + bins_per_octave);
    return std::ldexp(within + 0.5, shift);
}

void TimeHistogram::add(double ms) {
    constexpr double largest_ns = static_cast<double>((std::uint64_t{1} << largest_bits) - 1);
    const double ns = ms > 0 ? std::min(ms * 1e6, largest_ns) : 0;  // the comparison is false for NaN too
    ++counts_[bin_of(static_cast<std::uint64_t>(ns))];
    const double held_ms = ns * 1e-6;
    min_ms_ = count_ == 0 ? held_ms : std::min(min_ms_, held_ms);
    max_ms_ = std::max(max_ms_, held_ms);
    ++count_;
    sum_ms_ += held_ms;
}

// Adds up the bins until they contain the rank.
double TimeHistogram::percentile_ms(double share) const {
    if (count_ == 0) return 0;
    const auto rank = std::clamp<std::int64_t>(std::llround(std::ceil(share * static_cast<double>(count_))), 1, count_);
    std::int64_t seen = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
        seen += counts_[bin];
        if (seen >= rank) return middle_ns(bin) * 1e-6;
    }
    return 0;
}

TimeSummary TimeHistogram::summary() const {
    if (count_ == 0) return {};
    return {sum_ms_ / static_cast<double>(count_), percentile_ms(0.5), percentile_ms(0.99), min_ms_, max_ms_};
}

// Each bin counts as its middle.
TimeBuckets TimeHistogram::buckets() const {
    TimeBuckets buckets{.count = count_, .sum_ms = sum_ms_};
    std::size_t bin = 0;
    std::int64_t seen = 0;
    for (std::size_t at = 0; at < buckets.within.size(); ++at) {
        for (; bin < bins && middle_ns(bin) * 1e-6 <= TimeBuckets::limits_ms[at]; ++bin) seen += counts_[bin];
        buckets.within[at] = seen;
    }
    return buckets;
}

}  // namespace framewire
