#pragma once

#include <cstdint>
#include <optional>

namespace framewire::session {

/// A time range of a source. A job on it writes exactly those frames that a job on the whole source would write in this
/// range. Times and numbers are those of the source. See stretches_of().
struct Stretch {
    /// Time of its first frame.
    double begin_seconds = 0;
    /// Number of its first frame.
    std::int64_t begin_frame = 0;
    /// Number of frames.
    std::int64_t frames = 0;
    /// Time of the first frame after the range; empty if the range extends to the end.
    std::optional<double> end_seconds{};
    /// Time of the first frame that filters and detectors must see before the range.
    double lead_seconds = 0;
    /// Number of that frame.
    std::int64_t lead_frame = 0;
    /// If true, they must also see the source's very first frame before that.
    bool first_frame = false;
};

}  // namespace framewire::session
