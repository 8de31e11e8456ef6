#pragma once

#include "framewire/core/view.hpp"
#include "network/camera/frame_log.hpp"

#include <cstdint>
#include <vector>

namespace framewire::network {

/// What a picture that somebody shows has of the frames of its camera.
struct BoundFinding {
    std::int64_t outside = 0;   ///< bytes within the threshold of no frame of the time asked for
    double oldest_age_ms = 0;   ///< of the oldest frame that was needed for the others
    std::uint32_t stamped = 0;  ///< the frame whose number the picture bears; 0 for none
};

/// Holds pictures against what a camera sent: each byte has to be within the threshold of that byte of some frame. For
/// one thread.
class BoundCheck {
public:
    /// `log` lives longer.
    explicit BoundCheck(const FrameLog& log) : log_(log) {}

    /// Of a picture of the log's shape, shown at `now`: frames captured up to `window_ms` before that count, as far as
    /// the log still has them.
    BoundFinding check(HostView<const std::uint8_t> picture, int threshold, double window_ms, Clock::time_point now);

private:
    const FrameLog& log_;
    std::vector<std::uint8_t> outside_;  // of each byte: 1 while no frame is near
};

}  // namespace framewire::network
