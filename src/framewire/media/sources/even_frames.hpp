#pragma once

#include "framewire/core/time/rational.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

// Helpers for sources with a constant frame rate.

namespace framewire {

/// Time of a frame, in seconds.
inline double even_time(std::int64_t frame, Rational rate) { return static_cast<double>(frame) / rate.value(); }

/// Index of the first frame at or after `seconds`; `frames`, the number of frames, if there is none.
inline std::int64_t even_frame_at(double seconds, Rational rate, std::int64_t frames) {
    constexpr double same_time_s = 1e-6;  // times are quotients: two this close are equal
    const double wanted = seconds - same_time_s;
    const double near = std::clamp(std::floor(wanted * rate.value()), 0.0, static_cast<double>(frames));
    auto frame = std::max<std::int64_t>(static_cast<std::int64_t>(near) - 1, 0);
    while (frame < frames && even_time(frame, rate) < wanted) ++frame;
    return frame;
}

}  // namespace framewire
