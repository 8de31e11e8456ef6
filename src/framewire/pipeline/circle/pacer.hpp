#pragma once

#include "framewire/core/time/clock.hpp"

namespace framewire {

/// Says when a frame is due when a source plays at its own rate. Times in files are not to be trusted: one that stands
/// still or goes back (a file repeated, say) is due at once, and no gap holds a frame for longer than `longest_gap`.
class Pacer {
public:
    static constexpr std::chrono::seconds longest_gap{5};
    /// Who is later than this stops trying to catch up.
    static constexpr std::chrono::seconds longest_lag{1};

    /// When the frame with presentation time `seconds` is due; `now` is not after its call to the next.
    Clock::time_point due(double seconds, Clock::time_point now);

private:
    bool started_ = false;
    double seconds_ = 0;
    Clock::time_point due_{};
};

}  // namespace framewire
