#pragma once

#include "framewire/net/listener.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/broadcast/broadcast.hpp"
#include "framewire/session/live/live_options.hpp"
#include "framewire/session/live/live_settings.hpp"
#include "framewire/session/live/served_camera.hpp"
#include "framewire/session/relay/relay.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace framewire::session {

/// One of the cameras that a listener serves. It runs a BroadcastJob, and a new one each time the size of the frames
/// changes or control requests need a restart; or it runs a RelayJob if the source is a stream of another server.
class Camera {
public:
    /// Does not open anything yet. `options` name the stream; the files of their job are not written. `ordered` are
    /// persisted settings. The listener must outlive the camera.
    Camera(const BroadcastOptions& options, net::Listener& listener, const LiveOptions& live = {},
           LiveSettings ordered = {});
    ~Camera();

    /// Name of the stream.
    const std::string& name() const { return options_.server.stream; }
    /// Opens the source. If `may_come_later`, a camera or network source that is unavailable only causes a warning, and
    /// run() keeps trying. Throws as BroadcastJob does.
    void open(bool may_come_later);
    /// Logs the address for viewers, if the camera is open.
    void tell_address() const;
    /// Serves the camera until the source ends or a stop is requested; may be called once, after open(). Throws the
    /// first error that ended it.
    void run();

    /// Result over all jobs so far; complete after run(), even if it threw.
    const BroadcastResult& result() const { return result_; }
    /// Current statistics over all jobs; from any thread.
    StatisticsSnapshot figures() const { return statistics_->snapshot(); }

    /// The camera for queries and control requests. Callers may keep it, but requests fail after this object ended.
    const std::shared_ptr<ServedCamera>& live() const { return live_; }

private:
    bool open_with_patience();
    void make_job();
    // Makes a BroadcastJob with the ordered settings, or without those that do not fit.
    std::unique_ptr<BroadcastJob> job_as_ordered();
    // Makes the next job if the last one ended for a new size or for requests.
    bool go_on();
    // Makes the next job; a recording file that cannot be written does not prevent it.
    void make_next_job();
    // Keeps the first error of a recording, to throw it at the end.
    void note_recording_failure(const std::exception_ptr& failure);
    // Runs a job and merges its result into result_.
    template <class Job>
    void run_job(Job& job);
    // Runs the relay and reconnects it after a loss.
    void run_relay();
    // Returns true if the source is a stream of another server.
    bool relays() const;

    BroadcastOptions options_;
    // recording option as given
    std::string record_;
    int recordings_ = 1;
    // frames of earlier jobs
    std::int64_t counted_frames_ = 0;
    std::shared_ptr<Statistics> statistics_ = std::make_shared<Statistics>();
    std::shared_ptr<ServedCamera> live_;
    // first failed recording; the camera continued without it
    std::exception_ptr recording_failure_;
    std::unique_ptr<BroadcastJob> job_;
    // at most one of `job_` and `relay_` is set
    std::unique_ptr<RelayJob> relay_;
    BroadcastResult result_;
};

/// Returns the text of a recording's sink for part `number`, from 2 on: `day.fwd:key=2` becomes `day-2.fwd:key=2`.
/// Throws as fwd::parse_record() does.
std::string recording_part(const std::string& text, int number);

}  // namespace framewire::session
