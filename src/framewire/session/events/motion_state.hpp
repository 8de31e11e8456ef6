#pragma once

#include "framewire/core/time/clock.hpp"

#include <optional>

namespace framewire::session {

struct MotionRules {
    int after_frames = 3;  ///< ON with the last of so many frames with objects, one after the other
    Clock::duration hold = std::chrono::seconds(30);  ///< OFF when so long no frame had any
};

/// Whether something moves before a camera, from its frames. A plain value.
class MotionState {
public:
    explicit MotionState(const MotionRules& rules) : rules_(rules) {}

    /// Of a frame that was captured then. True when it turns ON.
    bool seen(Clock::time_point captured, bool objects) {
        consecutive_ = objects ? consecutive_ + 1 : 0;
        if (objects) last_objects_ = captured;
        if (on_ || consecutive_ < rules_.after_frames) return false;
        return on_ = true;
    }

    /// When it turns OFF where nothing is seen any more; none: it is OFF.
    std::optional<Clock::time_point> ends() const {
        if (!on_) return std::nullopt;
        return last_objects_ + rules_.hold;
    }

    /// True when it turns OFF, for its time is over, or in any case where `at_once`.
    bool end(Clock::time_point now, bool at_once = false) {
        if (!on_ || (!at_once && now < last_objects_ + rules_.hold)) return false;
        on_ = false;
        consecutive_ = 0;
        return true;
    }

    bool on() const { return on_; }

private:
    MotionRules rules_;
    int consecutive_ = 0;
    Clock::time_point last_objects_{};
    bool on_ = false;
};

}  // namespace framewire::session
