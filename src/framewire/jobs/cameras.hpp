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
#include "framewire/service/rtsp/rtsp_server.hpp"
#include "framewire/service/video/camera_video.hpp"
#include "framewire/service/webrtc/whep_server.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::jobs {

/// One of the cameras that a listener serves. It runs one BroadcastJob after another: a new one starts whenever the
/// frame size changes, control requests need a restart, or the GPU fails. If the source is a stream of another server,
/// it runs a RelayJob instead.
class Camera {
public:
    /// Stores the options without opening anything. `options.server.stream` is the camera's name; the statistics file
    /// of `options.job` is not written. `requested` are persisted settings. The listener must outlive the camera.
    Camera(const BroadcastOptions& options, net::Listener& listener, const service::LiveOptions& live = {},
           LiveSettings requested = {});
    ~Camera();

    /// Returns the name of the stream.
    const std::string& name() const { return options_.server.stream; }
    /// Returns true if the source may be unavailable for a while: a camera, the network.
    bool may_be_away() const;
    /// Opens the source. If `may_come_later` is true, an unavailable camera or network source only causes a warning,
    /// and run() keeps trying to open it. Throws as BroadcastJob does.
    void open(bool may_come_later);
    /// Logs the address for viewers if the camera is open.
    void tell_address() const;
    /// Serves the camera until the source ends or a stop is requested; may be called once, after open(). Throws the
    /// first error that ended it.
    void run();

    /// Returns the combined result of all jobs so far; complete after run(), even if it threw.
    const BroadcastResult& result() const { return result_; }
    /// Returns the current statistics over all jobs. Callable from any thread.
    StatisticsSnapshot figures() const { return statistics_->snapshot(); }

    /// Returns the interface for queries and control requests. Callers may keep it, but requests fail once this camera
    /// has been destroyed.
    const std::shared_ptr<ServedCamera>& live() const { return live_; }

private:
    bool open_with_patience();
    void make_job();
    // Makes a BroadcastJob with the requested settings; settings that do not fit are dropped.
    std::unique_ptr<BroadcastJob> job_as_requested();
    // Makes the next job if the last one ended for a new frame size, for control requests or because its GPU failed.
    // Returns false if the camera has ended.
    bool go_on();
    // Takes a GPU for the next jobs, unless there is one that works.
    void take_gpu();
    // Returns true if the camera's GPU failed, so that its jobs fail, and it can go on elsewhere.
    bool must_move() const { return options_.job.gpu && options_.job.gpu->must_move(); }
    // Makes the next job. Continues without a recording if its file cannot be written.
    void make_next_job();
    // Stores the first error of a recording or clip, which run() throws at the end.
    void note_recording_failure(const std::exception_ptr& failure);
    // Runs a job and merges its result into result_.
    template <class Job>
    void run_job(Job& job);
    // Runs the relay and reconnects it if the upstream stream is lost.
    void run_relay();
    // Returns true if the source is a stream of another server.
    bool relays() const;

    BroadcastOptions options_;
    // recording option as given by the user
    std::string record_;
    int recordings_ = 1;
    // number of frames sent by earlier jobs
    std::int64_t counted_frames_ = 0;
    std::shared_ptr<Statistics> statistics_ = std::make_shared<Statistics>();
    std::shared_ptr<ServedCamera> live_;
    // pixels per second, once the camera is open
    std::optional<double> load_;
    // error of the first recording or clip that failed; the camera continues without it
    std::exception_ptr recording_failure_;
    std::unique_ptr<BroadcastJob> job_;
    // at most one of `job_` and `relay_` is set
    std::unique_ptr<RelayJob> relay_;
    BroadcastResult result_;
};

/// Returns the text of the recording option for part `number`, which is at least 2: `day.fwd:key=2` becomes
/// `day-2.fwd:key=2`. Throws as fwd::parse_record() does.
std::string recording_part(const std::string& text, int number);

/// Option text that may apply to a single camera: "NAME=REST".
struct CameraText {
    /// Camera name; empty if the text applies to all cameras.
    std::string name;
    /// Text after "NAME=".
    std::string rest;
};

/// Splits the text of a source. The text before the first = is a camera name if it is a valid stream name (A-Z a-z 0-9
/// . _ -) and the whole text is not the path of an existing file. Thus `synth:size=64x48`, URLs, and paths with a /
/// before the = have no name.
CameraText camera_source(std::string_view text);

/// Splits the text of another camera option. Only an element of `names` counts as a camera name.
CameraText camera_text(std::string_view text, std::span<const std::string> names);

/// Returns `text` with each {name} replaced by `name`.
std::string with_camera_name(std::string_view text, std::string_view name);

/// Options of a CamerasJob: any number of cameras on one port.
struct CamerasOptions {
    /// Statistics file, progress, stop token and GPUs for the whole job. Each camera takes one of the GPUs, and another
    /// one if that fails. All other options are per camera.
    JobOptions job{};
    net::ListenerOptions listener{};
    /// Options of each camera, which is named by its `server.stream`. Other members of `server` are ignored, and so are
    /// the statistics file, progress and stop token in the camera's own `job`.
    std::vector<BroadcastOptions> cameras{};
    /// Files that control requests use. Persisted settings that fit the cameras apply from the first frame on.
    service::LiveOptions live{};
    /// If true, the listener also serves the page, the API and other HTTP routes.
    bool web = true;
    /// The RTSP server. Token, TLS and the limit of viewers are those of `listener`.
    service::RtspOptions rtsp{};
    /// WebRTC sessions, if there is video over HTTP.
    service::WhepOptions webrtc{};
    /// Events of cameras with a detector. Relayed streams have none.
    service::EventOptions events{};
    /// H.264 video for players other than framewire's, over HTTP if `web` is set and over RTSP if `rtsp` has an
    /// address. RTSP without an encoder uses the default one.
    service::VideoOptions video{};
};

/// Returns the files that these options read and write.
JobFiles files_of(const CamerasOptions& options);

/// Outcome of one camera.
struct CameraResult {
    std::string name;
    BroadcastResult broadcast{};
    /// Error message if the camera failed.
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
    /// Present if a camera has a detector.
    std::optional<service::EventStatistics> events{};
    /// Present if events are published to a broker.
    std::optional<service::MqttStatistics> mqtt{};
    /// Present if motion events are sent to Frigate.
    std::optional<service::FrigateStatistics> frigate{};
};

/// Returns the result as JSON: the fields of CamerasTotal, fps, viewers_total, and an object `cameras` with one entry
/// per camera name, which has `failure` if that camera failed. For a single camera only the object of that camera is
/// returned. Both forms have `events`, `mqtt` and `frigate` if those statistics exist.
std::string to_json(const CamerasResult& result);

/// Serves cameras, each with its own filters, detector and encoder, to any number of viewers, who select a camera by
/// name. If a camera fails or ends, the others continue. A job runs once.
///
/// While a camera or network source is lost, its stream shows "no signal" and the source is reopened with pauses from
/// 0.1 s to 10 s, for the time set by its options; default: forever. If it comes back with another frame size, a new
/// stream continues under the same name, and the recording continues in a new file (recording_part()). If there are
/// several cameras, one that is unavailable or slow at the start is opened later.
class CamerasJob {
public:
    /// Starts listening and opens all cameras in parallel. Waits at most 3 s for those that may be away, if there are
    /// several; run() goes on opening them beside the others. Throws Error{usage} if there is no camera or if names are
    /// invalid or not unique; as check_events(), net::Listener and MqttPublisher do; and as BroadcastJob does for the
    /// first camera that cannot be opened.
    explicit CamerasJob(const CamerasOptions& options);
    ~CamerasJob();

    /// Returns the address of the listener.
    const net::Address& address() const;

    /// Returns the events of all cameras. Valid as long as the job exists.
    const service::EventHub& events() const;
    /// Returns the counters of the MQTT publisher; empty if there is no broker.
    std::optional<service::MqttStatistics> mqtt() const;

    /// Returns all cameras, for queries and control requests. Requests fail once the job has been destroyed.
    std::vector<std::shared_ptr<service::LiveCamera>> live() const;

    /// Serves until all cameras have ended; may be called once. Throws the error of the first camera that failed.
    const CamerasResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const CamerasResult& result() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Returns the totals so far. Callable from any thread.
CamerasTotal total_of(const std::vector<std::unique_ptr<Camera>>& cameras);

/// Returns lines for Progress: the totals as text, or as JSON with the progress_json() of each camera in `cameras`.
/// Refers to `cameras`.
ProgressLines progress_lines(const std::vector<std::unique_ptr<Camera>>& cameras);

}  // namespace framewire::jobs
