#pragma once

#include <chrono>
#include <cstdint>

namespace framewire {

/// The clock of every measured time.
using Clock = std::chrono::steady_clock;

/// Milliseconds from `begin` to `end`, as a fraction.
inline double milliseconds(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double, std::milli>(end - begin).count();
}

inline double milliseconds_since(Clock::time_point begin) { return milliseconds(begin, Clock::now()); }

/// What the clock says, in whole microseconds. It began with the machine's start.
inline std::uint64_t microseconds_since_start(Clock::time_point time) {
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
    return since > 0 ? static_cast<std::uint64_t>(since) : 0;
}

}  // namespace framewire
