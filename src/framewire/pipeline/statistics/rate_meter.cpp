#include "framewire/pipeline/statistics/rate_meter.hpp"

#include <algorithm>
#include <cmath>

namespace framewire {
namespace {

constexpr double longest_gap_seconds = 1e6;
constexpr double rounding = 1e-6;  // a second's worth of frames is one second, whatever rounding their times have

std::size_t place_of(std::int64_t bin, std::size_t bins) { return static_cast<std::size_t>(bin) % bins; }

}  // namespace

// Bytes are added to bins of 10 ms. The window of one second is the sum of the last 100 bins.
void RateMeter::add(double seconds, std::int64_t bytes) {
    const double gap = seconds - last_;
    if (runs_ && gap > 0 && gap <= longest_gap_seconds) gap_ = gap;
    runs_ = true;
    last_ = seconds;
    if (count_++ > 0) elapsed_ += gap_;
    total_ += bytes;
    forget_until(static_cast<std::int64_t>(std::floor(elapsed_ * bins_per_second + rounding)));
    bins_[place_of(bin_, bins_.size())] += bytes;
    in_window_ += bytes;
    most_ = std::max(most_, in_window_);
}

// Removes the bins that have left the window.
void RateMeter::forget_until(std::int64_t bin) {
    const auto passed = std::min<std::int64_t>(bin - bin_, bins_per_second);
    for (std::int64_t i = 0; i < passed; ++i) {
        auto& old = bins_[place_of(bin - i, bins_.size())];
        in_window_ -= old;
        old = 0;
    }
    bin_ = bin;
}

double RateMeter::mean_bits_per_second() const {
    if (count_ == 0) return 0;
    // Each frame counts for the time until the next one.
    const double seconds = count_ > 1 ? elapsed_ * static_cast<double>(count_) / static_cast<double>(count_ - 1) : gap_;
    return 8.0 * static_cast<double>(total_) / seconds;
}

}  // namespace framewire
