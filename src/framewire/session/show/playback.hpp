#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/pipeline/circle/pacer.hpp"
#include "framewire/session/show/playback_state.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

namespace framewire::session {

/// Playback control of a source: pause, step, seek and speed. It connects a user interface with the threads that read
/// and show frames. Each seek starts a new pass over the source; frames of earlier passes are no longer shown.
/// Thread-safe.
class Playback {
public:
    /// Frames of a `live` source are shown as they arrive.
    explicit Playback(bool live) : live_(live) {}

    /// Pauses or continues.
    void set_paused(bool paused);
    /// Shows one more frame and pauses.
    void step();
    /// Requests a seek; negative times are 0.
    void seek(double seconds);
    /// Sets the speed, clamped to least_playback_speed..most_playback_speed.
    void set_speed(double speed);
    /// Ends all waits; nothing is shown any more.
    void close();
    /// Returns the current state.
    PlaybackState state() const;
    /// Target of a pending seek, else the time of the frame shown last.
    double position_seconds() const;

    // For the thread that reads the source:
    struct Seek {
        double seconds = 0;
        /// The pass that starts there.
        int pass = 0;
    };
    /// Takes the pending seek, if there is one.
    std::optional<Seek> take_seek();
    /// Called at the end of the source, or when it failed with the message `lost`. Waits for a seek. Returns false if
    /// the playback was closed.
    bool wait_for_seek(std::string lost);

    /// For the thread that shows frames: waits until the frame is due. Returns false if it is no longer wanted.
    bool wait_for_turn(int pass, const FrameTime& time);

private:
    template <class Change>
    void change(Change&& apply);

    bool live_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    PlaybackState state_;
    std::optional<double> seek_seconds_;
    // pass whose frames may be shown
    int pass_ = 0;
    // pass of the frame shown last
    int shown_pass_ = -1;
    // number of pending steps
    int steps_ = 0;
    bool closed_ = false;
    Pacer pacer_;
};

}  // namespace framewire::session
