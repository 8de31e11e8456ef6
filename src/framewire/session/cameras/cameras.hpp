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

/// Any number of cameras over one port.
struct CamerasOptions {
    /// The statistics, progress and stop of all; what else there is, each camera has of its own.
    JobOptions job{};
    net::ListenerOptions listener{};
    /// Each under the name of its `server.stream`. What else is in `server`, and files, progress and stop of their
    /// jobs, is not looked at.
    std::vector<BroadcastOptions> cameras{};
    LiveOptions live{};     ///< what was ordered before holds from the first frame on, as far as it fits
    bool web = true;        ///< the page, the API and what else comes over HTTP, at the same address
    EventOptions events{};  ///< of cameras with a detector that frames come to, not of streams that are forwarded
};

/// What these options read and write.
JobFiles files_of(const CamerasOptions& options);

struct CameraResult {
    std::string name;
    BroadcastResult broadcast{};
    std::optional<std::string> failure{};  ///< in words
};

/// Of all cameras together.
struct CamerasTotal {
    std::int64_t frames = 0, drops = 0;
    double seconds = 0;  ///< of the one that ran longest
    std::int64_t raw_bytes = 0;
    std::int64_t sent_bytes = 0;  ///< to one viewer of each
};

struct CamerasResult {
    std::vector<CameraResult> cameras;
    CamerasTotal total{};
    net::ServerMetrics viewers{};
    std::optional<EventFigures> events{};  ///< where a camera has a detector
    std::optional<MqttFigures> mqtt{};     ///< where a broker is told
};

/// As JSON: the total's fields and fps, viewers_total, and in `cameras` an object of to_json() for each by its name,
/// with `failure` where it failed. Of one camera alone just that one's object. Both have `events` and `mqtt`, where
/// there are such.
std::string to_json(const CamerasResult& result);

/// Cameras, each with its own chain, detector and encoder, to any number of viewers, who ask for them by their names.
/// One that fails or ends does not end the others. For one run.
///
/// A camera or a network source that is lost shows "no signal" meanwhile and is tried again with pauses from 0.1 s to
/// 10 s: as long as its options say, else for ever. One that is back with pictures of another size goes on under its
/// name as a stream of that size, and its recording in a file of its own (recording_part()). Of several, one that is
/// not there at the start may come later.
class CamerasJob {
public:
    /// Listens, and opens all there is, the cameras at the same time. Throws Error{usage} where there is none, or names
    /// are not allowed or not different; as check_events(), net::Listener and MqttPublisher do; and what BroadcastJob
    /// throws of the first camera that cannot be opened.
    explicit CamerasJob(const CamerasOptions& options);
    ~CamerasJob();

    const net::Address& address() const;

    /// What its cameras see, for whoever asks; no longer than this job is there.
    const EventHub& events() const;
    /// How a broker is told of it; none where it is not.
    std::optional<MqttFigures> mqtt() const;

    /// All cameras, to be asked and ordered while they are served, and no longer than this job is there.
    std::vector<std::shared_ptr<LiveCamera>> live() const;

    /// To be called once; returns when all have ended. Throws what failed of the first camera that did.
    const CamerasResult& run();
    /// Of run(), when it threw, too.
    const CamerasResult& result() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
