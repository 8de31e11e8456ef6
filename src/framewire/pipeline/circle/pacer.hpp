#pragma once

#include "framewire/core/time/clock.hpp"

namespace framewire {

/// Computes when a frame is due if a source is played at its own rate. Times in files are unreliable: a frame
/// whose time stands still or goes back, as in a repeated file, is due at once, and no gap delays a frame by
/// more than `longest_gap`.
class Pacer {
public:
    static constexpr std::chrono::seconds longest_gap{5};
    /// A player that is later than this does not try to catch up.
    static constexpr std::chrono::seconds longest_lag{1};

    /// Returns when the frame with presentation time `seconds` is due. `now` must not decrease from call to
    /// call.
    Clock::time_point due(double seconds, Clock::time_point now);

private:
    bool started_ = false;
    double seconds_ = 0;
    Clock::time_point due_{};
};

}  // namespace framewire
