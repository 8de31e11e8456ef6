#include "framewire/session/input/stretch/stretch_position.hpp"

#include "framewire/core/error.hpp"
#include "framewire/filters/fps/fps.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <cmath>
#include <utility>

namespace framewire::session {
namespace {

// Frame times are sums of fractions; times closer than this are equal.
constexpr double same_time_of_stretch_s = 1e-6;

// Returns the time at which a frame is written, before filters change the rate.
double time_of(const InputOptions& input, std::int64_t frame, double seconds) {
    return input.fps > 0 ? static_cast<double>(frame) / input.fps : seconds;
}

// Returns the number at the new rate of a frame with this time.
std::int64_t number_at(Rational rate, double seconds) {
    FpsSchedule schedule(rate);
    schedule.begin(seconds);
    return schedule.next();
}

}  // namespace

StretchPosition::StretchPosition(const InputOptions& input, std::string name)
    : stretch_(input.stretch.value()), name_(std::move(name)) {
    const auto rate = split_at_rate(parse_chain(input.filters)).rate;
    if (!rate) return;
    rated_begin_ = number_at(*rate, time_of(input, stretch_.begin_frame, stretch_.begin_seconds));
    if (stretch_.end_seconds)
        rated_end_ = number_at(*rate, time_of(input, stretch_.begin_frame + stretch_.frames, *stretch_.end_seconds));
}

void StretchPosition::begin(std::int64_t damaged) {
    next_ = stretch_.lead_frame;
    damaged_ = damaged;
}

StretchPosition::Is StretchPosition::take(FrameTime& time, std::int64_t damaged) {
    time.index = next_++;
    const double seconds = time.seconds + same_time_of_stretch_s;
    if (seconds < stretch_.begin_seconds) return Is::before;
    const bool is_behind = stretch_.end_seconds && seconds >= *stretch_.end_seconds;
    if (time.index <= stretch_.begin_frame || is_behind)
        require(time.index - (is_behind ? stretch_.begin_frame + stretch_.frames : stretch_.begin_frame));
    if (!is_behind) return Is::within;
    if (damaged > damaged_)
        fail(ErrorCode::source_lost, "{}: {} of its packets or pictures are broken between {:.2f} s and {:.2f} s",
             name_, damaged - damaged_, stretch_.begin_seconds, *stretch_.end_seconds);
    return Is::behind;
}

void StretchPosition::end() { require(next_ - stretch_.begin_frame - stretch_.frames); }

void StretchPosition::require(std::int64_t too_many) const {
    if (too_many != 0)
        fail(ErrorCode::config, "{}: it cannot be cut, for its packets tell {} frames {} than it has about {:.2f} s",
             name_, too_many > 0 ? too_many : -too_many, too_many > 0 ? "fewer" : "more", stretch_.begin_seconds);
}

StretchPosition::Is StretchPosition::at_rate(std::int64_t number) const {
    return number < rated_begin_ ? Is::before : number < rated_end_ ? Is::within : Is::behind;
}

double whole_seconds_before(const InputOptions& input) {
    const auto& stretch = input.stretch.value();
    const double seconds = time_of(input, stretch.begin_frame, stretch.begin_seconds);
    const auto rate = split_at_rate(parse_chain(input.filters)).rate;
    return std::floor(rate ? static_cast<double>(number_at(*rate, seconds)) / rate->value() : seconds);
}

}  // namespace framewire::session
