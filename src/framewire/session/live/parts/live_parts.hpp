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

/// What is ordered and asked of a broadcast beside its input and its threshold: where objects count, recordings that
/// begin while it runs, and whether frames come. Orders are from any thread, one thread sends.
class LiveParts {
public:
    /// Those of the kind `detect` say where objects count.
    void take_zones(std::span<const LiveZone> zones);
    /// As count_in() of those zones.
    void count(std::span<const Component> objects, std::vector<Component>& counted) const;

    /// A frame is sent, with the source's signal or without; whether it is the first.
    void note_frame(bool signal, bool first);
    /// No more frames come.
    void note_end() { up_ = false; }
    bool up() const { return up_; }
    /// How often the signal was lost and came back.
    std::int64_t reconnects() const { return reconnects_; }

    /// Null where nothing is recorded, or that has failed.
    std::shared_ptr<LiveRecording> recording() const;
    /// Throws Error{usage} while something is recorded, and what `make` does.
    void start_recording(const std::function<std::shared_ptr<LiveRecording>()>& make);
    /// Throws Error{usage} where nothing is recorded, and what writing failed with.
    void stop_recording();
    /// The same where something is recorded; the log tells what failed.
    void finish(Ending ending);

private:
    mutable std::mutex mutex_;
    std::vector<Zone> counting_;
    std::shared_ptr<LiveRecording> recording_;
    std::atomic<bool> up_ = false;
    std::atomic<std::int64_t> reconnects_ = 0;
};

}  // namespace framewire::session
