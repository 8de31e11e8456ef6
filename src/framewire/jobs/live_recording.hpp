#pragma once

#include "framewire/core/view.hpp"
#include "framewire/detect/zones.hpp"
#include "framewire/media/fwd.hpp"
#include "framewire/plan/source.hpp"
#include "framewire/service/live_camera.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace framewire::jobs {

/// A recording that is started and ended while a stream is being sent. One thread adds frames; another may end the
/// recording.
class LiveRecording {
public:
    /// Opens the file. Throws Error{io}. `pool` must outlive the recording.
    LiveRecording(const std::string& path, const fwd::Recording& recording, const OutputFileOptions& options,
                  const ThreadPool& pool);

    /// Returns true until the recording is ended or writing fails; a failure is logged. Callable from any thread.
    bool goes_on() const;
    /// Returns true if this frame should be stored as a keyframe.
    bool wants_picture(const FrameTime& time) const { return recorder_.wants_picture(time); }

    /// Adds a frame: the delta frame `packed` or, if a keyframe is due, the picture that `draw` copies. That picture
    /// differs from the camera's by at most `threshold`. Does nothing once the recording has ended.
    void add(std::span<const std::uint8_t> packed, const FrameTime& time, int threshold,
             const std::function<void(HostView<std::uint8_t> picture)>& draw);

    /// Returns the file, duration and size so far. Callable from any thread.
    service::LiveRecordingState state() const;

    /// Waits until everything is written and gives the file its final name; only the first call has an effect. Throws
    /// the original error if writing failed, and Error{config} if no frame was added; in that case there is no file.
    void finish(Ending ending);

private:
    // path of the completed recording
    std::string path_;
    mutable std::mutex mutex_;
    std::optional<double> first_seconds_;
    double last_seconds_ = 0;
    bool ended_ = false;
    fwd::Recorder recorder_;
};

/// Parts of a broadcast that control requests change, other than input and threshold: detection areas, recordings
/// started by request, and whether frames arrive. Requests come from any thread; a single thread sends frames.
class LiveParts {
public:
    /// Replaces the detection areas by the zones of kind `detect`.
    void take_zones(std::span<const service::LiveZone> zones);
    /// Copies the objects inside the detection areas to `counted`, as count_in() does.
    void count(std::span<const Component> objects, std::vector<Component>& counted) const;

    /// Sets the event zones, which take_changed_event_zones() returns once.
    void take_event_zones(ZoneSet zones);
    /// Returns the event zones if they changed since the last call.
    std::optional<ZoneSet> take_changed_event_zones();

    /// Records that a frame was sent. `signal` is false if the frame only shows that the source is away; `first` is
    /// true for the first frame of the job.
    void note_frame(bool signal, bool first);
    /// Records that no more frames arrive.
    void note_end() { up_ = false; }
    /// Returns true while frames with the source's signal arrive.
    bool up() const { return up_; }
    /// Returns how many times the signal was lost and came back.
    std::int64_t reconnects() const { return reconnects_; }

    /// Returns the recording in progress; null if there is none or if writing failed.
    std::shared_ptr<LiveRecording> recording() const;
    /// Starts the recording that `make` returns. Throws Error{usage} if another one is in progress, and whatever `make`
    /// throws.
    void start_recording(const std::function<std::shared_ptr<LiveRecording>()>& make);
    /// Completes the recording. Throws Error{usage} if there is none, and the original error if writing failed.
    void stop_recording();
    /// Completes the recording, if there is one, and logs errors.
    void finish(Ending ending);

private:
    // guards the three members below
    mutable std::mutex mutex_;
    std::vector<Zone> counting_;
    std::optional<ZoneSet> changed_event_zones_;
    std::shared_ptr<LiveRecording> recording_;
    std::atomic<bool> up_ = false;
    std::atomic<std::int64_t> reconnects_ = 0;
};

/// Tracks how many control requests are in force in the newest state of a stream. Requests are counted when they are
/// accepted, and each frame carries the count that was valid when it was made. May outlive its job, so that waiting
/// threads can finish. Thread-safe.
class RequestsInForce {
public:
    /// Maximum time for which wait_for() waits for a frame.
    static constexpr std::chrono::seconds patience{10};

    /// Result of waiting: a frame made with the requests was sent, the stream ended first, or `patience` elapsed.
    enum class Outcome { in_force, ended, late };

    /// Records that a frame made with this many requests was sent.
    void note_sent(std::uint64_t requests);
    /// Records that no further frames are sent.
    void end();
    /// Waits until a frame made with at least this many requests was sent, the stream ended, or `patience` elapsed.
    Outcome wait_for(std::uint64_t requests) const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool any_sent_ = false, ended_ = false;
    std::uint64_t sent_ = 0;
};

/// Error message for a request if no frame was sent within `patience`.
inline constexpr const char* late_request_text =
    "no frame has arrived since this request, which will apply from the next frame";

/// Identifies requests whose effect a caller can wait for. Before the first frame of a stream there is nothing to wait
/// for, because that frame already reflects all requests.
struct RequestTicket {
    std::shared_ptr<const RequestsInForce> stream{};  ///< null: there is nothing to wait for
    /// Number of requests that must be in force.
    std::uint64_t requests = 0;

    /// Waits as RequestsInForce::wait_for() does.
    RequestsInForce::Outcome wait() const {
        return stream ? stream->wait_for(requests) : RequestsInForce::Outcome::in_force;
    }
};

}  // namespace framewire::jobs
