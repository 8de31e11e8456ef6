#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/net/session/metrics.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/control/control.hpp"
#include "framewire/session/live/parts/live_recording_state.hpp"
#include "framewire/session/live/zones.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace framewire::session {

/// State of a served camera.
struct LiveCameraState {
    /// Name of the stream.
    std::string name;
    /// Source as shown to people, without passwords.
    std::string source;
    /// True while frames arrive; false while the camera is lost or has not yet delivered one.
    bool up = false;
    /// Number of times that the camera was lost and came back.
    std::int64_t reconnects = 0;
    /// True if control requests are accepted.
    bool may_be_set = false;
    /// Shapes of frames as captured and as filtered.
    Shape source_shape{}, shape{};
    /// Nominal frames per second.
    double rate = 0;
    /// Filter chain as text, including filters that are switched off.
    std::string chain{};
    /// Picture controls and filter switches.
    Controls controls{};
    /// Privacy masks and detection areas, in pixels of `source_shape`.
    std::vector<LiveZone> zones{};
    /// How frames are encoded.
    delta::Mode mode = delta::Mode::exact;
    /// Threshold asked for, and the greatest one that rate control may choose.
    int threshold = 0, threshold_max = 0;
    /// True if a detector looks at the frames.
    bool detects = false;
    /// Recording started by request; empty if there is none.
    std::optional<LiveRecordingState> recording{};
    /// Command line that serves the camera with these settings.
    std::string command{};
};

/// A served camera as the page and the API see it: queries and control requests. Thread-safe. Requests throw
/// Error{usage} that says what is allowed, and Error{config} if the camera or the server does not accept such a
/// request. A request for chain, controls, threshold or zones returns when it is in force in what viewers see.
class LiveCamera {
public:
    virtual ~LiveCamera() = default;

    /// Name of the stream. Never changes.
    virtual const std::string& name() const = 0;
    /// Returns a snapshot of the camera's state.
    virtual LiveCameraState state() const = 0;
    /// Returns the camera's statistics, over all its jobs.
    virtual StatisticsSnapshot figures() const = 0;
    /// Returns the traffic to its viewers, over all its jobs.
    virtual net::StreamMetrics viewers() const = 0;
    /// A copy of R, the picture that viewers see. `image` is 1 x height x width x channels; `version` grows with each
    /// new picture.
    struct Picture {
        HostImage image;
        std::uint64_t version = 0;
    };
    /// Returns a copy of R; empty before the first frame.
    virtual std::optional<Picture> picture() const = 0;
    /// Version of the newest picture; 0 before the first. Cheap, so callers can poll it.
    virtual std::uint64_t picture_version() const = 0;

    /// Oldest version that may still be shown: a completed request withdrew the older ones. 0: any version.
    virtual std::uint64_t oldest_picture_version() const { return 0; }

    /// Replaces the filter chain from the next frame on. Viewers stay connected if the frame size stays the same;
    /// otherwise they are disconnected and can reconnect.
    virtual void set_chain(const std::string& text) = 0;
    /// Switches a filter or sets the picture controls.
    virtual void control(const ControlOrder& order) = 0;
    /// Carries out a request that `make` derives from the current adjustment. A ServedCamera does so atomically: two
    /// such requests that change different fields at the same time both take effect.
    virtual void control_by(const std::function<ControlOrder(const Adjustment& now)>& make) {
        control(make(state().controls.adjustment));
    }
    /// Sets threshold and mode from the next frame on; an empty argument leaves the value unchanged. A new mode, or a
    /// threshold above the bound that viewers were sent, disconnects them, and they can reconnect.
    virtual void set_threshold(std::optional<int> threshold, std::optional<delta::Mode> mode) = 0;
    /// Replaces all privacy masks and detection areas. Coordinates are pixels of the source's frame.
    virtual void set_zones(const std::vector<LiveZone>& zones) = 0;
    /// Starts a recording of what viewers receive, as a new .fwd file in the server's recording folder. Returns its
    /// name.
    virtual std::string start_recording() = 0;
    /// Completes that recording.
    virtual void stop_recording() = 0;
    /// Writes R as a PNG file into the recording folder and returns its name.
    virtual std::string save_snapshot() = 0;
};

}  // namespace framewire::session
