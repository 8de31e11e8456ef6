#pragma once

#include <chrono>
#include <cstdint>

namespace framewire {

/// The monotonic clock of every measured time.
using Clock = std::chrono::steady_clock;

/// Returns the milliseconds from `begin` to `end`, with their fraction.
inline double milliseconds(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double, std::milli>(end - begin).count();
}

/// Returns the milliseconds from `begin` until now, with their fraction.
inline double milliseconds_since(Clock::time_point begin) { return milliseconds(begin, Clock::now()); }

/// Returns the clock's reading in whole microseconds, 0 if it is negative. On Linux the clock starts with the machine.
inline std::uint64_t microseconds_since_start(Clock::time_point time) {
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
    return since > 0 ? static_cast<std::uint64_t>(since) : 0;
}

}  // namespace framewire
