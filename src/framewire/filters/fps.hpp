#pragma once

#include "framewire/core/time.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// Converts a source's frames to another frame rate by dropping and repeating them, as FFmpeg's `fps` filter does. A
/// frame's time is rounded to the nearest frame time of the new rate, halves up; the frame is shown from that time
/// until the next frame's. If several frames have the same time, the last one is shown. Gaps of more than an hour are
/// not filled.
class FpsSchedule {
public:
    /// `rate` is the new rate, in frames per second.
    explicit FpsSchedule(Rational rate) : rate_(rate) {}

    /// Returns the new rate.
    const Rational& rate() const { return rate_; }

    /// Restarts the schedule with a first frame at `seconds`.
    void begin(double seconds) { next_ = number_at(seconds); }
    /// Returns how often to show the current frame if the following one has the time `next_seconds`; 0 drops it. After
    /// a gap of more than an hour, returns 1 and moves next() to just before the following frame.
    std::int64_t count_until(double next_seconds);
    /// Returns the index, at the new rate, of the next frame to show.
    std::int64_t next() const { return next_; }
    /// Returns next() and advances it.
    std::int64_t give() { return next_++; }
    /// Returns the time of frame `number` at the new rate.
    double seconds_of(std::int64_t number) const { return static_cast<double>(number) / rate_.value(); }

private:
    /// Returns the index at the new rate that is nearest to a time.
    std::int64_t number_at(double seconds) const;

    Rational rate_;
    std::int64_t next_ = 0;
};

/// Returns the registry entry of `fps`. The filter changes the number of frames, which a ChainPlan cannot do; see
/// split_at_rate().
FilterInfo fps_info();

}  // namespace framewire
