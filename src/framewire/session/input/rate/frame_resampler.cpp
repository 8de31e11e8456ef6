#include "framewire/session/input/rate/frame_resampler.hpp"

#include <algorithm>
#include <utility>

namespace framewire::session {

FrameResampler::FrameResampler(const Shape& shape, Rational own, Rational wanted, bool everything, Read read)
    : schedule_(wanted),
      own_rate_(own),
      everything_(everything),
      read_(std::move(read)),
      current_{HostImage(shape)},
      next_{HostImage(shape)} {}

void FrameResampler::begin_anew() {
    began_ = false;
    has_next_ = false;
    left_ = 0;
    given_ = true;
    failure_ = nullptr;
}

bool FrameResampler::read_next() {
    try {
        has_next_ = !failure_ && read_(next_);
    } catch (...) {
        failure_ = std::current_exception();
        has_next_ = false;
    }
    return has_next_;
}

// Makes the source's next frame the current one. The frame after it says how long it lasts.
bool FrameResampler::go_on() {
    if (!std::exchange(began_, true)) {
        if (!read_next()) return false;
        schedule_.begin(next_.time.seconds);
    }
    if (!has_next_) return false;
    std::swap(current_, next_);
    ++reading_;
    given_ = false;
    const double end_s = current_.time.seconds + std::max(current_.time.duration_seconds, 1 / own_rate_.value());
    left_ = schedule_.count_until(read_next() ? next_.time.seconds : end_s);
    return true;
}

bool FrameResampler::capture(HostView<std::uint8_t> image, FrameTime& time, Given& given) {
    while (!began_ || (left_ == 0 && (given_ || !everything_)))
        if (!go_on()) {
            if (failure_) std::rethrow_exception(failure_);
            return false;
        }
    given = {reading_, left_ > 0, current_.signal, current_.own};
    given_ = true;
    if (!current_.own) copy(std::as_const(current_.image).view(), image);
    time = {schedule_.next(), schedule_.seconds_of(schedule_.next()), current_.time.captured};
    if (left_ == 0) return true;
    --left_;
    schedule_.give();
    return true;
}

}  // namespace framewire::session
