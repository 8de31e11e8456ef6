#pragma once

#include "framewire/core/time/rational.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// Which frames of a source there are at another rate, and how often: FFmpeg's filter `fps`. A frame's time is rounded
/// to the nearest of the new rate, half up, and it is there from then on until the next one's; of several at one time
/// the last is. Waits of more than an hour are left out.
class FpsSchedule {
public:
    explicit FpsSchedule(Rational rate) : rate_(rate) {}

    const Rational& rate() const { return rate_; }

    /// Begins anew with a frame of that time.
    void begin(double seconds) { next_ = number_at(seconds); }
    /// How often the frame is there which the one of `next_seconds` follows.
    std::int64_t count_until(double next_seconds);
    /// Of the next frame of the new rate: its number, which give() goes on from.
    std::int64_t next() const { return next_; }
    std::int64_t give() { return next_++; }
    double seconds_of(std::int64_t number) const { return static_cast<double>(number) / rate_.value(); }

private:
    std::int64_t number_at(double seconds) const;

    Rational rate_;
    std::int64_t next_ = 0;
};

/// The registry's entry. It changes how many frames there are, which ChainPlan does not do: see split_at_rate().
FilterInfo fps_info();

}  // namespace framewire
