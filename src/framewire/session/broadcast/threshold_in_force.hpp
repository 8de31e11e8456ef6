#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/rate/rate_control.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>

namespace framewire::session {

/// Threshold of a broadcast; rate control moves it if a rate limit is given.
///
/// Thread-safe: next() is called where frames are processed, took() where they are sent, and set_least() from any
/// thread. `limits_` and `greatest_` never change; the mutex guards the rest.
class ThresholdInForce {
public:
    /// Throws Error{usage} if a rate limit is combined with the lossless mode, and as delta::validate() does.
    ThresholdInForce(const delta::EncoderParameters& encoder, const std::optional<delta::RateLimits>& limits)
        : least_(encoder.effective_threshold()),
          limits_(limits),
          greatest_(limits ? limits->greatest_threshold(least_) : least_) {
        if (!limits) return;
        if (encoder.mode == delta::Mode::lossless)
            fail(ErrorCode::usage, "a rate does not go with the mode lossless, whose threshold is 0");
        validate(*limits, least_);
    }

    /// Bound that holds for the whole stream and that viewers are sent, regardless of later changes of the least
    /// threshold.
    int greatest() const { return greatest_; }
    /// Least threshold in force.
    int least() const {
        const std::lock_guard lock(mutex_);
        return least_;
    }
    /// Sets another least threshold for the next frames. Returns false and changes nothing if it exceeds greatest().
    bool set_least(int threshold) {
        const std::lock_guard lock(mutex_);
        if (threshold > greatest_) return false;
        if (control_) control_->set_least(threshold);
        least_ = threshold;
        return true;
    }
    /// Starts rate control for this nominal frame rate. Called once, before all other functions.
    void set_frame_rate(double frames_per_second) {
        if (limits_) control_.emplace(*limits_, least_, frames_per_second);
    }
    /// Returns the threshold for the next frame, which has the time `seconds`.
    int next(double seconds) {
        const std::lock_guard lock(mutex_);
        return control_ ? control_->threshold(seconds) : least_;
    }
    /// Returns how many bytes may be sent in addition to delta frames; infinite without a rate limit.
    double room_bytes() {
        const std::lock_guard lock(mutex_);
        return control_ ? control_->room_bytes() : std::numeric_limits<double>::infinity();
    }
    /// Reports the bytes that a delta frame took, so that rate control can move the threshold. Warns once if the stream
    /// exceeds its limit even at the greatest threshold.
    void took(double seconds, int threshold, std::int64_t bytes, Statistics& statistics) {
        statistics.add_step(seconds, threshold, bytes);
        const std::lock_guard lock(mutex_);
        if (!control_) return;
        control_->took(seconds, threshold, bytes);
        statistics.set_rate_limit(limits_->bits_per_second, control_->over());
        if (control_->over() == 0 || warned_) return;
        warned_ = true;
        log_warning("the stream takes more than {:.6g} Mbit/s even within {}", 1e-6 * limits_->bits_per_second,
                    greatest());
    }

private:
    int least_;
    std::optional<delta::RateLimits> limits_;
    int greatest_;
    mutable std::mutex mutex_;
    std::optional<delta::RateControl> control_;
    bool warned_ = false;
};

}  // namespace framewire::session
