#include "framewire/codec/rate_control.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace framewire::codec {
namespace {

// The bucket drains at this share of the allowed rate, so that fluctuations from second to second stay within the rate.
constexpr double share_used = 0.9;
// Capacity of the bucket: what drains in this time, or in the time of this number of frames if that is longer.
constexpr double bucket_seconds = 1, bucket_frames = 10;
// Upper bound of the fullness, so that an unavoidable excess is forgotten after this many seconds.
constexpr double most_fullness = 2;
// Fullness before the first delta frame and while none is sent. If the bucket were empty, twice the rate could be sent
// in the first second: the bytes that drain and those that fill the bucket.
constexpr double first_fullness = 0.5;
// Fullness at which the threshold begins to rise, and fullness at which it reaches the maximum.
constexpr double low_fullness = 0.1, high_fullness = 0.9;
// The threshold plus this number grows exponentially with the fullness: the size of a delta frame halves with each
// fixed percentage by which the threshold grows, but near 0 every unit counts.
constexpr double ratio_origin = 8;
// Sizes fluctuate from frame to frame, so the threshold falls only if it could be lower by at least this share of
// itself.
constexpr double slack = 1.0 / 12;
constexpr double least_slack = 1;
// Minimum time in which the threshold falls from the maximum to the minimum, and largest single step as a share of the
// threshold.
constexpr double sinking_seconds = 2;
constexpr double largest_step = 1.0 / 8;
// Time constant of the mean of recent bytes per second.
constexpr double flow_seconds = 0.25;
// Gaps between frames that are longer than this are considered implausible.
constexpr double longest_gap_seconds = 1e6;

}  // namespace

int RateLimits::greatest_threshold(int least) const {
    return threshold_max.value_or(std::max(usual_threshold_max, least));
}

void validate(const RateLimits& limits, int threshold) {
    const double bits = limits.bits_per_second;
    if (!(bits >= RateLimits::least_bits && bits <= RateLimits::most_bits))
        fail(ErrorCode::usage, "the bitrate is {} bits per second; allowed: {:.0f} to {:.0f}", bits,
             RateLimits::least_bits, RateLimits::most_bits);
    validate_packed_threshold(threshold);
    const int greatest = limits.greatest_threshold(threshold);
    validate_packed_threshold(greatest);
    if (greatest < threshold)
        fail(ErrorCode::usage, "the maximum threshold is {}; it must be at least the threshold, {}", greatest,
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
    if (!(frames_per_second > 0))
        fail(ErrorCode::usage, "the frame rate is {} frames per second; it must be above 0", frames_per_second);
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
    // Frames whose sizes are not reported yet are assumed to take what the rate allows.
    const double want = wanted((bytes_ - gap * bytes_per_second_) / capacity_bytes_);
    // The threshold rises immediately.
    if (want >= threshold_ + 0.5) {
        threshold_ = static_cast<int>(std::lround(want));
        steady_seconds_ = 0;
        return threshold_;
    }
    // The threshold falls only if there is enough room, and if the bitrate at the current threshold is known and
    // allowed.
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
        fail(ErrorCode::usage, "the minimum threshold is {}; allowed: 0 to {}", threshold, greatest_);
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
    // Exponential moving average, restarted whenever the threshold changes.
    const double news = threshold == known_threshold_ ? 1 - std::exp(-gap / flow_seconds) : 1;
    flow_ += news * (static_cast<double>(bytes) / gap - flow_);
    known_at_ = seconds;
    known_threshold_ = threshold;
    if (threshold == greatest_ && fullness() > 1 && flow_ > bytes_per_second_ / share_used) ++over_;
}

}  // namespace framewire::codec
