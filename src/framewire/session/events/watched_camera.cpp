#include "framewire/session/events/watched_camera.hpp"

#include <utility>

namespace framewire::session {

// Most frames of most cameras have no objects and return at once.
void SeenFrames::seen(const SeenFrame& frame) noexcept {
    const bool has_objects = !frame.objects.empty();
    if (!has_objects && !had_objects_) return;
    had_objects_ = has_objects;
    {
        const std::lock_guard lock(signal_.mutex);
        if (count_ == room)
            // replaces the previous frame
            ++signal_.left_out;
        else
            ++count_;
        auto& slot = frames_[(first_ + count_ - 1) % room];
        try {
            slot.objects.assign(frame.objects.begin(), frame.objects.end());
            // out of memory: report no objects
        } catch (...) {
            slot.objects.clear();
            ++signal_.left_out;
        }
        slot.time = frame.time;
        slot.shape = frame.shape;
        signal_.something = true;
    }
    signal_.told.notify_one();
}

bool SeenFrames::take(Frame& into) {
    const std::lock_guard lock(signal_.mutex);
    if (count_ == 0) return false;
    std::swap(into, frames_[first_]);
    first_ = (first_ + 1) % room;
    --count_;
    return true;
}

WatchedCamera::WatchedCamera(const std::string& name, const EventOptions& options, WallTime started, Tell tell)
    : name_(name), motion_(options.motion), ids_(name, started), tell_(std::move(tell)) {
    if (options.objects_rate)
        least_pause_ =
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / *options.objects_rate));
}

void WatchedCamera::begin() { tell_motion(std::chrono::system_clock::now()); }

// The event carries the wall time of the capture: the present minus the age of the frame.
void WatchedCamera::take(const SeenFrames::Frame& frame) {
    const auto age = Clock::now() - frame.time.captured;
    const auto time = std::chrono::system_clock::now() - std::chrono::duration_cast<WallTime::duration>(age);
    frame_ = frame.time.index;
    if (motion_.seen(frame.time.captured, !frame.objects.empty())) tell_motion(time);
    if (frame.objects.empty() || may_tell(frame.time.captured))
        tell_(objects_event(name_, ids_.next(), time, {frame.time, frame.shape, frame.objects}));
}

// Frame times jitter, so a pause starts when the previous one ended, not at a late frame.
bool WatchedCamera::may_tell(Clock::time_point captured) {
    if (!least_pause_) return true;
    if (captured < next_objects_) return false;
    const bool late = captured - next_objects_ >= *least_pause_;
    next_objects_ = (late ? captured : next_objects_) + *least_pause_;
    return true;
}

void WatchedCamera::pass(Clock::time_point now, bool ends) {
    if (motion_.end(now, ends)) tell_motion(std::chrono::system_clock::now());
}

void WatchedCamera::tell_motion(WallTime time) { tell_(motion_event(name_, ids_.next(), time, motion_.on(), frame_)); }

}  // namespace framewire::session
