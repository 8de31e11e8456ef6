#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/core/time/frame_time.hpp"
#include "framewire/core/time/rational.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire::session {

/// Frame times for a recording of a stream. They start at 0 and always increase: if the stream's own times go back, as
/// after a restart of the server, or jump by more than an hour, they continue with the nominal frame duration. For one
/// thread.
class RecordingTime {
public:
    /// `rate` is the stream's nominal rate.
    explicit RecordingTime(Rational rate) : frame_seconds_(std::min(1 / rate.value(), longest_gap_seconds)) {}

    /// Returns time and number of the next frame, which has the stream's time `stream_seconds`.
    FrameTime next(double stream_seconds) {
        if (index_ == 0)
            offset_ = stream_seconds;
        else if (const double step = stream_seconds - offset_ - seconds_; step <= 0 || step > longest_gap_seconds)
            offset_ = stream_seconds - seconds_ - frame_seconds_;
        seconds_ = stream_seconds - offset_;
        return {index_++, seconds_, Clock::now()};
    }

private:
    static constexpr double longest_gap_seconds = 3600;

    // nominal duration of a frame
    double frame_seconds_;
    double offset_ = 0, seconds_ = 0;
    std::int64_t index_ = 0;
};

}  // namespace framewire::session
