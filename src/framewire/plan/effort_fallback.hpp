#pragma once

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Chooses the effort of a live stream: 0 while frames are dropped because they are late, otherwise the configured one.
///
/// The configured effort returns after wait_seconds() without a dropped frame. If frames are dropped again within the
/// same time, the machine cannot keep up, and the wait doubles, so that the effort cannot change back and forth every
/// few seconds. Not thread-safe.
class EffortFallback {
public:
    static constexpr double first_wait = 10,  ///< in seconds
        longest_wait = 640;                   ///< in seconds

    /// Creates the rule for a stream with the effort `configured`, before which `drops` frames were dropped. At effort
    /// 0 there is nothing to fall back to.
    explicit EffortFallback(int configured, std::int64_t drops = 0)
        : configured_(configured), effort_(configured), drops_(drops) {}

    /// Returns the effort of the next frame. `seconds` is the current time, which must not decrease; `drops` is the
    /// number of frames dropped so far.
    int next(double seconds, std::int64_t drops) {
        const bool dropped = drops > drops_;
        drops_ = drops;
        if (dropped) {
            if (effort_ > 0) {
                const bool too_early = has_returned_ && seconds - since_ < wait_;
                wait_ = too_early ? std::min(2 * wait_, longest_wait) : first_wait;
                effort_ = 0;
            }
            since_ = seconds;
        } else if (effort_ != configured_ && seconds - since_ >= wait_) {
            effort_ = configured_;
            has_returned_ = true;
            since_ = seconds;
        }
        return effort_;
    }
    /// Returns the time without dropped frames in seconds after which the configured effort returns.
    double wait_seconds() const { return wait_; }

private:
    int configured_, effort_;
    std::int64_t drops_;
    double wait_ = first_wait;
    double since_ = 0;           // time of the last dropped frame or, at the configured effort, of its return
    bool has_returned_ = false;  // whether the configured effort has returned since the start
};

}  // namespace framewire
