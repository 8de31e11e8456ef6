#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/core/time/frame_time.hpp"

#include <string>

namespace framewire::session {

/// How many times its own rate a source may be played at.
inline constexpr double least_playback_speed = 0.01, most_playback_speed = 100;

/// How the playing of a source stands.
struct PlaybackState {
    bool paused = false;
    bool ended = false;            ///< the source is at its end
    double speed = 1;              ///< of a source that is not live
    std::string lost{};            ///< why nothing more comes, where the source broke
    bool shows = false;            ///< a frame was shown
    FrameTime time{};              ///< of the frame shown last
    Clock::time_point shown_at{};  ///< when that was
};

}  // namespace framewire::session
