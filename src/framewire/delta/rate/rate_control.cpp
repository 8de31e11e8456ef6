#include "framewire/delta/rate/rate_control.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packed.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace framewire::delta {
namespace {

// The bucket leaks so much of the rate allowed, so that what varies from second to second stays below all of it.
constexpr double share_used = 0.9;
constexpr double bucket_seconds = 1, bucket_frames = 10;
// It holds no more than this, so that what nobody could have avoided is forgotten in so many seconds.
constexpr double most_fullness = 2;
// So full it is taken to be before the first step, and while none is sent: were it empty, the first second would take
// what leaks and what fills it.
constexpr double first_fullness = 0.5;
// Where the threshold begins to rise, and where it is the greatest.
constexpr double low_fullness = 0.1, high_fullness = 0.9;
// Thresholds grow by even ratios from this below 0: the bytes of a step halve with every so many per cent more, but
// near 0 each single one counts.
constexpr double ratio_origin = 8;
// Steps' sizes vary from frame to frame. The threshold holds until it might be lower by so much of itself.
constexpr double slack = 1.0 / 12;
constexpr double least_slack = 1;
// From the greatest to the least takes this long at least.
constexpr double sinking_seconds = 2;
constexpr double largest_step = 1.0 / 8;
// What steps took of late is the mean over about this time.
constexpr double flow_seconds = 0.25;
// Times further apart are not believed.
constexpr double longest_gap_seconds = 1e6;

}  // namespace

int RateLimits::greatest_threshold(int least) const {
    return threshold_max.value_or(std::max(usual_threshold_max, least));
}

void validate(const RateLimits& limits, int threshold) {
    const double bits = limits.bits_per_second;
    if (!(bits >= RateLimits::least_bits && bits <= RateLimits::most_bits))
        fail(ErrorCode::usage, "a rate of {} bits per second; {:.0f} to {:.0f} are allowed", bits,
             RateLimits::least_bits, RateLimits::most_bits);
    validate_packed_threshold(threshold);
    const int greatest = limits.greatest_threshold(threshold);
    validate_packed_threshold(greatest);
    if (greatest < threshold)
        fail(ErrorCode::usage, "a greatest threshold of {}; it is at least the threshold itself, {}", greatest,
             threshold);
}

RateControl::RateControl(const RateLimits& limits, int threshold, double frames_per_second)
    : least_((validate(limits, threshold), threshold)),
      greatest_(limits.greatest_threshold(threshold)),
      bytes_per_second_(limits.bits_per_second / 8 * share_used),
      frame_seconds_(1 / frames_per_second),
      capacity_bytes_(bytes_per_second_ * std::max(bucket_seconds, bucket_frames * frame_seconds_)),
      bytes_(first_fullness * capacity_bytes_),
      known_threshold_(threshold),
      threshold_(static_cast<int>(std::lround(wanted(first_fullness)))) {
    if (!(frames_per_second > 0)) fail(ErrorCode::usage, "a rate of {} frames per second", frames_per_second);
}

double RateControl::seconds_between(double earlier, double later) const {
    const double gap = later - earlier;
    return gap > 0 && gap <= longest_gap_seconds ? gap : frame_seconds_;
}

double RateControl::wanted(double fullness) const {
    const double share = std::clamp((fullness - low_fullness) / (high_fullness - low_fullness), 0.0, 1.0);
    if (share == 0) return least_;
    const double ratio = (greatest_ + ratio_origin) / (least_ + ratio_origin);
    return (least_ + ratio_origin) * std::pow(ratio, share) - ratio_origin;
}

int RateControl::threshold(double seconds) {
    const double gap = asked_ ? seconds_between(asked_at_, seconds) : frame_seconds_;
    asked_at_ = seconds;
    if (!std::exchange(asked_, true)) return least_;
    steady_seconds_ += gap;
    // Frames that are not known yet are taken to be what the rate allows.
    const double want = wanted((bytes_ - gap * bytes_per_second_) / capacity_bytes_);
    if (want >= threshold_ + 0.5) {
        threshold_ = static_cast<int>(std::lround(want));
        steady_seconds_ = 0;
        return threshold_;
    }
    const double room = threshold_ - want;
    const bool has_room = want <= least_ ? room > 0 : room >= std::max(least_slack, slack * threshold_);
    if (has_room && known_threshold_ == threshold_ && flow_ <= bytes_per_second_) {
        const double in_time = (greatest_ - least_) * steady_seconds_ / sinking_seconds;
        const double step = std::min({in_time, room / 2, largest_step * threshold_});
        threshold_ = std::max(least_, threshold_ - std::max(1, static_cast<int>(step)));
        steady_seconds_ = 0;
    }
    return threshold_;
}

void RateControl::set_least(int threshold) {
    if (threshold < 0 || threshold > greatest_)
        fail(ErrorCode::usage, "a least threshold of {}; 0 to {} are allowed", threshold, greatest_);
    least_ = threshold;
    threshold_ = std::max(threshold_, least_);
}

double RateControl::room_bytes() const {
    return threshold_ > least_ ? 0 : std::max(0.0, low_fullness * capacity_bytes_ - bytes_);
}

void RateControl::took(double seconds, int threshold, std::int64_t bytes) {
    const double gap = seconds_between(known_at_, seconds);
    bytes_ = std::max(0.0, bytes_ - gap * bytes_per_second_) + static_cast<double>(bytes);
    bytes_ = std::clamp(bytes_, bytes == 0 ? first_fullness * capacity_bytes_ : 0, most_fullness * capacity_bytes_);
    const double news = threshold == known_threshold_ ? 1 - std::exp(-gap / flow_seconds) : 1;
    flow_ += news * (static_cast<double>(bytes) / gap - flow_);
    known_at_ = seconds;
    known_threshold_ = threshold;
    if (threshold == greatest_ && fullness() > 1 && flow_ > bytes_per_second_ / share_used) ++over_;
}

}  // namespace framewire::delta
