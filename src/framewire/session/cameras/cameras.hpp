#pragma once

#include "framewire/net/listener.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/broadcast/broadcast.hpp"
#include "framewire/session/events/event_hub.hpp"
#include "framewire/session/events/event_options.hpp"
#include "framewire/session/events/mqtt/mqtt_publisher.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/live/live_camera.hpp"
#include "framewire/session/live/live_options.hpp"
#include "framewire/session/options.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire::session {

/// Options of a CamerasJob: any number of cameras on one port.
struct CamerasOptions {
    /// Statistics file, progress and stop token of the whole job; each camera has its own other options.
    JobOptions job{};
    net::ListenerOptions listener{};
    /// One element per camera, named by its `server.stream`. Other members of `server`, and the statistics file,
    /// progress and stop token of its job, are ignored.
    std::vector<BroadcastOptions> cameras{};
    /// Files for control requests. Persisted settings are applied from the first frame on, as far as they fit.
    LiveOptions live{};
    /// If true, the page, the API and other HTTP routes are served at the same address.
    bool web = true;
    /// Events of cameras with a detector. Relayed streams have none.
    EventOptions events{};
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
    std::optional<EventFigures> events{};
    /// Set if a broker receives events.
    std::optional<MqttFigures> mqtt{};
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
    const EventHub& events() const;
    /// Counters of the broker's publisher; empty if there is none.
    std::optional<MqttFigures> mqtt() const;

    /// All cameras, for queries and control requests. Requests fail after the job was destroyed.
    std::vector<std::shared_ptr<LiveCamera>> live() const;

    /// Serves until all cameras have ended; may be called once. Throws the error of the first camera that failed.
    const CamerasResult& run();
    /// Result of run(), valid even if it threw.
    const CamerasResult& result() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
