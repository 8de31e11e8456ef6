#pragma once

#include <cstdint>
#include <optional>

namespace framewire::session {

/// A stretch of a source, of which a job puts out what it would of all the source. Times and numbers are the source's
/// own. See stretches_of().
struct Stretch {
    double begin_seconds = 0;      ///< of its first frame
    std::int64_t begin_frame = 0;  ///< the number of that
    std::int64_t frames = 0;
    std::optional<double> end_seconds{};  ///< of the first frame behind; none: it goes to the end
    double lead_seconds = 0;              ///< the frames from this one on are seen by filters and detectors, too
    std::int64_t lead_frame = 0;
    bool first_frame = false;  ///< and before those the source's first frame is
};

}  // namespace framewire::session
