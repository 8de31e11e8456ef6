#pragma once

#include "framewire/core/component.hpp"
#include "framewire/pipeline/source.hpp"
#include "framewire/session/live/parts/live_recording.hpp"
#include "framewire/session/live/zones.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace framewire::session {

/// Parts of a broadcast that control requests change besides input and threshold: detection areas, recordings started
/// while the stream is sent, and whether frames arrive. Requests come from any thread; one thread sends.
class LiveParts {
public:
    /// Sets the detection areas to the zones of kind `detect`.
    void take_zones(std::span<const LiveZone> zones);
    /// Filters objects by the detection areas, as count_in() does.
    void count(std::span<const Component> objects, std::vector<Component>& counted) const;

    /// Notes that a frame was sent. `signal` is false if it shows that the source is away; `first` is true for the
    /// first frame of the job.
    void note_frame(bool signal, bool first);
    /// Notes that no more frames arrive.
    void note_end() { up_ = false; }
    /// True while frames with the source's signal arrive.
    bool up() const { return up_; }
    /// Number of times that the signal was lost and came back.
    std::int64_t reconnects() const { return reconnects_; }

    /// Returns the recording in progress; null if there is none or if writing failed.
    std::shared_ptr<LiveRecording> recording() const;
    /// Starts the recording that `make` returns. Throws Error{usage} if one is in progress, and as `make` does.
    void start_recording(const std::function<std::shared_ptr<LiveRecording>()>& make);
    /// Completes the recording. Throws Error{usage} if there is none, and the error if writing failed.
    void stop_recording();
    /// Completes the recording, if there is one; errors are logged.
    void finish(Ending ending);

private:
    // guards the two members below
    mutable std::mutex mutex_;
    std::vector<Zone> counting_;
    std::shared_ptr<LiveRecording> recording_;
    std::atomic<bool> up_ = false;
    std::atomic<std::int64_t> reconnects_ = 0;
};

}  // namespace framewire::session
