#pragma once

#include "framewire/core/log.hpp"
#include "framewire/core/time/frame_time.hpp"

#include <cmath>
#include <cstdint>
#include <string>

namespace framewire {

/// Warns once if frames with irregular times are written to a format with a constant rate.
class UnevenTimes {
public:
    /// Call it for each frame before it is written to `name`, which has `rate` frames per second. Warns at the first
    /// frame that is more than one frame period off.
    void look_at(const FrameTime& time, double rate, const std::string& name) {
        if (frames_ == 0) first_seconds_ = time.seconds;
        const double late = (time.seconds - first_seconds_) * rate - static_cast<double>(frames_++);
        if (said_ || std::abs(late) <= 1) return;
        said_ = true;
        log_warning("{}: it has {:.4g} frames a second, and not the times of the source, which are uneven", name, rate);
    }

private:
    std::int64_t frames_ = 0;
    double first_seconds_ = 0;
    bool said_ = false;
};

}  // namespace framewire
