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

/// Raises and lowers a broadcast's threshold for a rate, where one is asked for. Frames begin on one thread and are
/// sent on another.
class ThresholdInForce {
public:
    ThresholdInForce(const delta::EncoderParameters& encoder, const std::optional<delta::RateLimits>& limits)
        : least_(encoder.effective_threshold()),
          limits_(limits),
          greatest_(limits ? limits->greatest_threshold(least_) : least_) {
        if (!limits) return;
        if (encoder.mode == delta::Mode::lossless)
            fail(ErrorCode::usage, "a rate does not go with the mode lossless, whose threshold is 0");
        validate(*limits, least_);
    }

    /// What a stream is within, whatever the least was set to since.
    int greatest() const { return greatest_; }
    int least() const {
        const std::lock_guard lock(mutex_);
        return least_;
    }
    /// Another least threshold for frames to come; false, with nothing changed, where the stream is not within it.
    bool set_least(int threshold) {
        const std::lock_guard lock(mutex_);
        if (threshold > greatest_) return false;
        if (control_) control_->set_least(threshold);
        least_ = threshold;
        return true;
    }
    /// To be called once, before the others.
    void set_frame_rate(double frames_per_second) {
        if (limits_) control_.emplace(*limits_, least_, frames_per_second);
    }
    int next(double seconds) {
        const std::lock_guard lock(mutex_);
        return control_ ? control_->threshold(seconds) : least_;
    }
    /// The bytes that may be sent beside the steps.
    double room_bytes() {
        const std::lock_guard lock(mutex_);
        return control_ ? control_->room_bytes() : std::numeric_limits<double>::infinity();
    }
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
