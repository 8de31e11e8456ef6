#pragma once

#include "framewire/core/time/rational.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

// What sources share whose frames come at one rate, each as long as the others.

namespace framewire {

/// When a frame is, in seconds.
inline double even_time(std::int64_t frame, Rational rate) { return static_cast<double>(frame) / rate.value(); }

/// The first frame at or after `seconds`; `frames`, which is how many there are, where there is none.
inline std::int64_t even_frame_at(double seconds, Rational rate, std::int64_t frames) {
    constexpr double same_time_s = 1e-6;  // times are quotients: so much apart they are the same
    const double wanted = seconds - same_time_s;
    const double near = std::clamp(std::floor(wanted * rate.value()), 0.0, static_cast<double>(frames));
    auto frame = std::max<std::int64_t>(static_cast<std::int64_t>(near) - 1, 0);
    while (frame < frames && even_time(frame, rate) < wanted) ++frame;
    return frame;
}

}  // namespace framewire
