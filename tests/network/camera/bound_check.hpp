#pragma once

#include "framewire/core/view.hpp"
#include "network/camera/frame_log.hpp"

#include <cstdint>

namespace framewire::network {

/// Result of comparing a displayed picture with its camera's frames.
struct BoundFinding {
    std::int64_t outside =
        0;              ///< bytes that differ by more than the threshold from the frame whose number the picture bears
    double age_ms = 0;  ///< age of the frame whose number the picture bears
    std::uint32_t stamped = 0;  ///< number of that frame; 0 if the picture bears none
};

/// Compares pictures with the frames that a camera sent: each byte must be within the threshold of the same byte in the
/// one frame whose number the picture bears. Not thread-safe.
class BoundCheck {
public:
    /// `log` must outlive this object.
    explicit BoundCheck(const FrameLog& log) : log_(log) {}

    /// Checks a picture of the log's shape, displayed at `now`. All its bytes count as outside if it bears no number,
    /// its frame was captured more than `window_ms` earlier, or the log no longer holds that frame.
    BoundFinding check(HostView<const std::uint8_t> picture, int threshold, double window_ms, Clock::time_point now);

private:
    const FrameLog& log_;
};

}  // namespace framewire::network
