#include "framewire/session/show/playback.hpp"

#include <algorithm>
#include <utility>

namespace framewire::session {

template <class Change>
void Playback::change(Change&& apply) {
    {
        const std::lock_guard lock(mutex_);
        apply();
    }
    changed_.notify_all();
}

void Playback::set_paused(bool paused) {
    change([&] {
        state_.paused = paused;
        steps_ = 0;
        // a pause is not caught up
        pacer_ = {};
    });
}

void Playback::step() {
    change([&] {
        if (!std::exchange(state_.paused, true)) steps_ = 0;
        ++steps_;
        pacer_ = {};
    });
}

void Playback::seek(double seconds) {
    change([&] {
        seek_seconds_ = std::max(seconds, 0.0);
        ++pass_;
        steps_ = 0;
        pacer_ = {};
    });
}

void Playback::set_speed(double speed) {
    change([&] {
        state_.speed = std::clamp(speed, least_playback_speed, most_playback_speed);
        pacer_ = {};
    });
}

void Playback::close() {
    change([&] { closed_ = true; });
}

PlaybackState Playback::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

double Playback::position_seconds() const {
    const std::lock_guard lock(mutex_);
    return seek_seconds_.value_or(state_.time.seconds);
}

std::optional<Playback::Seek> Playback::take_seek() {
    const std::lock_guard lock(mutex_);
    if (!seek_seconds_) return std::nullopt;
    state_.ended = false;
    state_.lost.clear();
    // Until a frame of this pass is shown, relative seeks start from the target.
    state_.time.seconds = *seek_seconds_;
    return Seek{*std::exchange(seek_seconds_, std::nullopt), pass_};
}

bool Playback::wait_for_seek(std::string lost) {
    std::unique_lock lock(mutex_);
    state_.ended = lost.empty();
    state_.lost = std::move(lost);
    changed_.wait(lock, [&] { return closed_ || seek_seconds_; });
    return !closed_;
}

bool Playback::wait_for_turn(int pass, const FrameTime& time) {
    std::unique_lock lock(mutex_);
    std::optional<Clock::time_point> due;
    for (;;) {
        if (closed_ || pass != pass_) return false;
        // the target of a seek is shown even in a pause
        if (shown_pass_ != pass_) break;
        if (state_.paused) {
            if (steps_ > 0) {
                --steps_;
                break;
            }
            // due at once when playback continues
            due = Clock::time_point::min();
            changed_.wait(lock);
            continue;
        }
        if (live_) break;
        if (!due) due = pacer_.due(time.seconds / state_.speed, Clock::now());
        if (Clock::now() >= *due) break;
        changed_.wait_until(lock, *due);
    }
    shown_pass_ = pass_;
    state_.shows = true;
    state_.time = time;
    state_.shown_at = Clock::now();
    return true;
}

}  // namespace framewire::session
