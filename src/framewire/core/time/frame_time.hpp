#pragma once

#include "framewire/core/time/clock.hpp"

#include <cstdint>

namespace framewire {

/// When and where in its source a frame was taken.
struct FrameTime {
    std::int64_t index = 0;        ///< number in the source, from 0; dropped frames leave gaps
    double seconds = 0;            ///< presentation time in the source, from its start
    Clock::time_point captured{};  ///< when this machine had it
    double duration_seconds = 0;   ///< for how long it is shown, where its file tells; else 0
};

}  // namespace framewire
