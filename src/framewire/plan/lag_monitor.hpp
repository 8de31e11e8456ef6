#pragma once

#include <cstdint>
#include <optional>

namespace framewire {

/// Notices that a stream cannot keep up with its source: that frames are dropped, or that a file plays too slowly. Time
/// is judged in windows of 10 s. Not thread-safe.
class LagMonitor {
public:
    static constexpr double window_seconds = 10,  ///< length of a window
        tolerated_share = 0.05;                   ///< dropped frames or lost time that count as keeping up

    /// The losses of a window.
    struct Lag {
        std::int64_t frames, dropped;  ///< frames that were processed, and frames that were dropped
        double speed;                  ///< time of the source per time that passed; below 1 if a file plays too slowly
    };

    /// Creates a monitor for a stream before which `drops` frames were dropped.
    explicit LagMonitor(std::int64_t drops = 0) : drops_(drops) {}

    /// Call it for each processed frame. `seconds` is the current time, which must not decrease, `frame_seconds` the
    /// frame's own time, and `drops` the number of frames dropped so far. At the end of a window in which more than the
    /// tolerated share was lost, returns what was. If the frame's time steps back, a new window begins.
    std::optional<Lag> next(double seconds, double frame_seconds, std::int64_t drops) {
        if (!begun_ || frame_seconds < last_frame_seconds_) begin(seconds, frame_seconds, drops);
        last_frame_seconds_ = frame_seconds;
        ++frames_;
        const double passed = seconds - begin_seconds_;
        if (passed < window_seconds) return {};
        const Lag lag{frames_, drops - drops_, (frame_seconds - begin_frame_seconds_) / passed};
        begin(seconds, frame_seconds, drops);
        const auto all = static_cast<double>(lag.frames + lag.dropped);
        if (static_cast<double>(lag.dropped) > tolerated_share * all || lag.speed < 1 - tolerated_share) return lag;
        return {};
    }

private:
    void begin(double seconds, double frame_seconds, std::int64_t drops) {
        begun_ = true;
        begin_seconds_ = seconds;
        begin_frame_seconds_ = frame_seconds;
        drops_ = drops;
        frames_ = 0;
    }

    bool begun_ = false;
    double begin_seconds_ = 0, begin_frame_seconds_ = 0, last_frame_seconds_ = 0;
    std::int64_t drops_, frames_ = 0;
};

}  // namespace framewire
