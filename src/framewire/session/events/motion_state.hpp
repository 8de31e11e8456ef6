#pragma once

#include "framewire/core/time/clock.hpp"

#include <optional>

namespace framewire::session {

/// When motion switches ON and OFF.
struct MotionRules {
    /// Number of consecutive frames with objects after which motion is ON.
    int after_frames = 3;
    /// Motion is OFF after this time without objects.
    Clock::duration hold = std::chrono::seconds(30);
};

/// Hysteresis for the motion in front of a camera. A plain value.
class MotionState {
public:
    /// Starts OFF.
    explicit MotionState(const MotionRules& rules) : rules_(rules) {}

    /// Takes one frame. Returns true if it switches motion ON.
    bool seen(Clock::time_point captured, bool objects) {
        consecutive_ = objects ? consecutive_ + 1 : 0;
        if (objects) last_objects_ = captured;
        if (on_ || consecutive_ < rules_.after_frames) return false;
        return on_ = true;
    }

    /// Time at which motion switches OFF if no more objects are seen; empty if it is OFF.
    std::optional<Clock::time_point> ends() const {
        if (!on_) return std::nullopt;
        return last_objects_ + rules_.hold;
    }

    /// Returns true if motion switches OFF, because its time is over or because of `at_once`.
    bool end(Clock::time_point now, bool at_once = false) {
        if (!on_ || (!at_once && now < last_objects_ + rules_.hold)) return false;
        on_ = false;
        consecutive_ = 0;
        return true;
    }

    /// True while motion is ON.
    bool on() const { return on_; }

private:
    MotionRules rules_;
    int consecutive_ = 0;
    Clock::time_point last_objects_{};
    bool on_ = false;
};

}  // namespace framewire::session
