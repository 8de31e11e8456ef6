#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/session/input/stretch/stretch.hpp"
#include "framewire/session/options.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace framewire::session {

/// Position of a job in its time range: decides which frames belong to the range, and checks that they are the frames
/// that the range was planned with. For one thread.
class StretchPosition {
public:
    /// Position of a frame relative to the range.
    enum class Is { before, within, behind };

    /// `input` must have a time range. `name` is the source's name for messages.
    StretchPosition(const InputOptions& input, std::string name);

    /// The time range.
    const Stretch& stretch() const { return stretch_; }

    /// Starts at the first frame that filters and detectors see. `damaged` is Source::damaged() then.
    void begin(std::int64_t damaged);
    /// Returns the position of the frame that was just read and sets its number. Throws Error{config} if frames are
    /// missing or surplus before it. Throws Error{source_lost} if the frame is after the range and the source reports
    /// more damage than at the start.
    Is take(FrameTime& time, std::int64_t damaged);
    /// Call it at the source's end. Throws Error{config} if frames are missing.
    void end();

    /// Returns the position of the frame with this number at the rate that filters produce.
    Is at_rate(std::int64_t number) const;

private:
    // Throws unless `too_many` is 0.
    void require(std::int64_t too_many) const;

    Stretch stretch_;
    std::string name_;
    std::int64_t next_ = 0, damaged_ = 0;
    std::int64_t rated_begin_ = 0, rated_end_ = std::numeric_limits<std::int64_t>::max();
};

/// Returns the time at which the first frame of the range is written, rounded down to whole seconds. Parts of a video
/// file begin at this time.
double whole_seconds_before(const InputOptions& input);

}  // namespace framewire::session
