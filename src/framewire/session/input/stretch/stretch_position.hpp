#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/session/input/stretch/stretch.hpp"
#include "framewire/session/options.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace framewire::session {

/// Of a job on a stretch of its source: which frames are its own, and whether they are those that were planned with.
class StretchPosition {
public:
    enum class Is { before, within, behind };

    /// `input` has a stretch; `name` is the source's, for messages.
    StretchPosition(const InputOptions& input, std::string name);

    const Stretch& stretch() const { return stretch_; }

    /// Begins at the first frame that is seen. `damaged`: see Source.
    void begin(std::int64_t damaged);
    /// Where the frame that was just read is, and its number. Throws Error{config} where frames are missing or too many
    /// before it, Error{source_lost} where it is behind the stretch, and that has `damaged` more.
    Is take(FrameTime& time, std::int64_t damaged);
    /// The source has ended. Throws Error{config} where frames are missing.
    void end();

    /// Where the frame with this number is at the rate that filters give.
    Is at_rate(std::int64_t number) const;

private:
    void require(std::int64_t too_many) const;

    Stretch stretch_;
    std::string name_;
    std::int64_t next_ = 0, damaged_ = 0;
    std::int64_t rated_begin_ = 0, rated_end_ = std::numeric_limits<std::int64_t>::max();
};

/// Whole seconds that lie behind when the first frame of a stretch is put out: what parts of a file of video begin at.
double whole_seconds_before(const InputOptions& input);

}  // namespace framewire::session
