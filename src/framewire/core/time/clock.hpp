#pragma once

#include <chrono>

namespace framewire {

/// The clock of every measured time.
using Clock = std::chrono::steady_clock;

/// Milliseconds from `begin` to `end`, as a fraction.
inline double milliseconds(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double, std::milli>(end - begin).count();
}

inline double milliseconds_since(Clock::time_point begin) { return milliseconds(begin, Clock::now()); }

}  // namespace framewire
