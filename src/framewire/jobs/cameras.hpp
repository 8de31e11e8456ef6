#pragma once

#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/jobs/relay.hpp"
#include "framewire/jobs/served_camera.hpp"
#include "framewire/net/server.hpp"
#include "framewire/plan/statistics.hpp"
#include "framewire/service/event_hub.hpp"
#include "framewire/service/live_camera.hpp"
#include "framewire/service/mqtt.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::jobs {

/// One of the cameras that a listener serves. It runs a BroadcastJob, and a new one each time the size of the frames
/// changes or control requests need a restart; or it runs a RelayJob if the source is a stream of another server.
class Camera {
public:
    /// Does not open anything yet. `options` name the stream; the files of their job are not written. `requested` are
    /// persisted settings. The listener must outlive the camera.
    Camera(const BroadcastOptions& options, net::Listener& listener, const service::LiveOptions& live = {},
           LiveSettings requested = {});
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
    // Makes a BroadcastJob with the requested settings, or without those that do not fit.
    std::unique_ptr<BroadcastJob> job_as_requested();
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

/// Returns the text of a recording's sink for part `number` (at least 2): `day.fwd:key=2` becomes `day-2.fwd:key=2`.
/// Throws as fwd::parse_record() does.
std::string recording_part(const std::string& text, int number);

/// A text that may belong to one camera: "NAME=REST".
struct CameraText {
    /// Empty if no camera is named.
    std::string name;
    /// The text without the name.
    std::string rest;
};

/// Splits the text of a source. The part before the first = is a name if it is a valid stream name (A-Z a-z 0-9 . _ -)
/// and no file has the whole text as its path. Thus `synth:size=64x48`, URLs and paths with a / before the = have no
/// name.
CameraText camera_source(std::string_view text);

/// Splits the text of another option of cameras; only one of `names` counts as a name.
CameraText camera_text(std::string_view text, std::span<const std::string> names);

/// Returns `text` with each {name} replaced by `name`.
std::string with_camera_name(std::string_view text, std::string_view name);

/// Options of a CamerasJob: any number of cameras on one port.
struct CamerasOptions {
    /// Statistics file, progress and stop token of the whole job; each camera has its own other options.
    JobOptions job{};
    net::ListenerOptions listener{};
    /// One element per camera, named by its `server.stream`. Other members of `server`, and the statistics file,
    /// progress and stop token of its job, are ignored.
    std::vector<BroadcastOptions> cameras{};
    /// Files for control requests. Persisted settings are applied from the first frame on, as far as they fit.
    service::LiveOptions live{};
    /// If true, the page, the API and other HTTP routes are served at the same address.
    bool web = true;
    /// Events of cameras with a detector. Relayed streams have none.
    service::EventOptions events{};
};

/// Returns the files that these options read and write.
JobFiles files_of(const CamerasOptions& options);

/// Outcome of one camera.
struct CameraResult {
    std::string name;
    BroadcastResult broadcast{};
    /// Error message, if the camera failed.
    std::optional<std::string> failure{};
};

/// Totals over all cameras.
struct CamerasTotal {
    std::int64_t frames = 0, drops = 0;
    /// Duration of the camera that ran longest.
    double seconds = 0;
    std::int64_t raw_bytes = 0;
    /// Sum over the cameras of the bytes sent to one viewer.
    std::int64_t sent_bytes = 0;
};

/// Outcome of a CamerasJob.
struct CamerasResult {
    std::vector<CameraResult> cameras;
    CamerasTotal total{};
    net::ServerMetrics viewers{};
    /// Set if a camera has a detector.
    std::optional<service::EventStatistics> events{};
    /// Set if a broker receives events.
    std::optional<service::MqttStatistics> mqtt{};
};

/// Returns the result as JSON: the total's fields and fps, viewers_total, and in `cameras` one object per camera name,
/// with `failure` if it failed. For a single camera only that camera's object is returned. Both forms have `events` and
/// `mqtt` if there are any.
std::string to_json(const CamerasResult& result);

/// Serves cameras, each with its own filters, detector and encoder, to any number of viewers, who select them by name.
/// A camera that fails or ends does not end the others. A job runs once.
///
/// While a camera or network source is lost, its stream shows "no signal", and opening it is retried with pauses from
/// 0.1 s to 10 s, for as long as its options say; default: forever. If it comes back with another frame size, it
/// continues under its name as a new stream, and its recording continues in a new file (recording_part()). If there are
/// several cameras, one that is unavailable at the start may come later.
class CamerasJob {
public:
    /// Listens and opens all cameras, in parallel. Throws Error{usage} if there is no camera or if names are invalid or
    /// not unique; as check_events(), net::Listener and MqttPublisher do; and as BroadcastJob does for the first camera
    /// that cannot be opened.
    explicit CamerasJob(const CamerasOptions& options);
    ~CamerasJob();

    /// Address of the listener.
    const net::Address& address() const;

    /// Events of the cameras. Valid as long as the job.
    const service::EventHub& events() const;
    /// Counters of the broker's publisher; empty if there is none.
    std::optional<service::MqttStatistics> mqtt() const;

    /// All cameras, for queries and control requests. Requests fail after the job was destroyed.
    std::vector<std::shared_ptr<service::LiveCamera>> live() const;

    /// Serves until all cameras have ended; may be called once. Throws the error of the first camera that failed.
    const CamerasResult& run();
    /// Result of run(), valid even if it threw.
    const CamerasResult& result() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Returns the totals so far; from any thread.
CamerasTotal total_of(const std::vector<std::unique_ptr<Camera>>& cameras);

/// Returns lines for Progress: the total as text, and as JSON the total with each camera's progress_json() in
/// `cameras`. Refers to `cameras`.
ProgressLines progress_lines(const std::vector<std::unique_ptr<Camera>>& cameras);

}  // namespace framewire::jobs
