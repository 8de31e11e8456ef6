#pragma once

#include "framewire/core/time/clock.hpp"

#include <cstdint>

namespace framewire {

/// Position of a frame in its source, and the time at which it was captured.
struct FrameTime {
    std::int64_t index = 0;        ///< 0-based number in the source; dropped frames leave gaps
    double seconds = 0;            ///< presentation time in seconds from the start of the source
    Clock::time_point captured{};  ///< time at which this machine received it
    double duration_seconds = 0;   ///< display duration if the file has it, else 0
};

}  // namespace framewire
