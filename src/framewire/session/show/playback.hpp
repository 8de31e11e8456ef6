#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/pipeline/circle/pacer.hpp"
#include "framewire/session/show/playback_state.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

namespace framewire::session {

/// Pause, step and seek: what who looks at a source asks for, and what the threads that read and show it wait for. A
/// seek begins another reading of the source, a pass; frames of passes before are not shown any more. Thread-safe.
class Playback {
public:
    /// Frames of a live source are shown when they come.
    explicit Playback(bool live) : live_(live) {}

    void set_paused(bool paused);
    /// Shows one frame more, and pauses.
    void step();
    void seek(double seconds);
    /// Held to least_playback_speed..most_playback_speed.
    void set_speed(double speed);
    /// Ends all waits; nothing is shown any more.
    void close();
    PlaybackState state() const;
    /// Where a seek under way goes to, else the time of the frame shown last.
    double position_seconds() const;

    // For who reads the source.
    struct Seek {
        double seconds = 0;
        int pass = 0;  ///< that begins there
    };
    std::optional<Seek> take_seek();
    /// At the end of the source, or where it broke, which `lost` says then: false when there will be no seek.
    bool wait_for_seek(std::string lost);

    /// For who shows frames: returns when this one's turn is; false where it is not wanted any more.
    bool wait_for_turn(int pass, const FrameTime& time);

private:
    template <class Change>
    void change(Change&& apply);

    bool live_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    PlaybackState state_;
    std::optional<double> seek_seconds_;
    int pass_ = 0;         // that frames have to be of
    int shown_pass_ = -1;  // of the frame shown last
    int steps_ = 0;        // that are asked for
    bool closed_ = false;
    Pacer pacer_;
};

}  // namespace framewire::session
