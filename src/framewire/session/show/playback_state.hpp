#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/core/time/frame_time.hpp"

#include <string>

namespace framewire::session {

/// Range of the playback speed, relative to the source's own rate.
inline constexpr double least_playback_speed = 0.01, most_playback_speed = 100;

/// State of the playback of a source.
struct PlaybackState {
    bool paused = false;
    /// The source is at its end.
    bool ended = false;
    /// Relative speed of a source that is not live.
    double speed = 1;
    /// Error message, if the source failed.
    std::string lost{};
    /// True once a frame was shown.
    bool shows = false;
    /// Time of the frame shown last.
    FrameTime time{};
    /// When that frame was shown.
    Clock::time_point shown_at{};
};

}  // namespace framewire::session
