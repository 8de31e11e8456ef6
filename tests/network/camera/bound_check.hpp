#pragma once

#include "framewire/core/view.hpp"
#include "network/camera/frame_log.hpp"

#include <cstdint>

namespace framewire::network {

/// What a picture that somebody shows has of the frames of its camera.
struct BoundFinding {
    std::int64_t outside = 0;   ///< bytes further than the threshold from the frame whose number the picture bears
    double age_ms = 0;          ///< of that frame
    std::uint32_t stamped = 0;  ///< its number; 0 for none
};

/// Compares pictures with what a camera sent: every byte has to be within the threshold of that byte of the one frame
/// whose number the picture bears. For one thread.
class BoundCheck {
public:
    /// `log` lives longer.
    explicit BoundCheck(const FrameLog& log) : log_(log) {}

    /// A picture of the log's shape, shown at `now`. All its bytes are outside if it bears no number, its frame was
    /// captured more than `window_ms` before, or the log has lost that frame.
    BoundFinding check(HostView<const std::uint8_t> picture, int threshold, double window_ms, Clock::time_point now);

private:
    const FrameLog& log_;
};

}  // namespace framewire::network
