#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/zones.hpp"
#include "framewire/filters/mosaic.hpp"
#include "framewire/media/sound.hpp"
#include "framewire/net/control.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/statistics.hpp"
#include "framewire/service/control.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::service {

/// State of a recording that was started while a stream is sent.
struct LiveRecordingState {
    /// Path of the file, which appears when the recording is complete.
    std::string file;
    /// Duration according to the frames' times.
    double seconds = 0;
    /// Bytes written so far.
    std::int64_t bytes = 0;
};

/// A rectangle of the source's frame with a special meaning, drawn by a user.
struct LiveZone {
    /// Purpose of a zone.
    enum class Kind {
        /// Privacy mask: black in everything that leaves the program: streams, recordings and snapshots.
        privacy,
        /// Privacy mask that shows coarse cells instead of black.
        mosaic,
        /// Detection area: objects count if they touch at least one such area. If there is none, all objects count.
        detect,
    };
    Kind kind = Kind::privacy;
    /// Position and size in pixels of the source's frame.
    Zone area{};

    friend bool operator==(const LiveZone&, const LiveZone&) = default;
};

/// Maximum number of zones per camera.
inline constexpr std::size_t max_live_zones = 64;

/// Returns "privacy", "mosaic" or "detect".
std::string_view to_string(LiveZone::Kind kind);
/// Parses a name from to_string(). For any other text, throws Error{usage} that lists the names.
LiveZone::Kind parse_zone_kind(std::string_view text);

/// Zones, with the size of the frame on which they were drawn.
struct LiveZones {
    std::vector<LiveZone> zones{};
    Shape drawn_on{};

    friend bool operator==(const LiveZones&, const LiveZones&) = default;
};

/// Throws Error{usage} if there are more than max_live_zones, or if one is empty or not completely inside the frame.
void check_zones(std::span<const LiveZone> zones, const Shape& picture);

/// Returns the zones for a frame of another size. They are scaled to that size and rounded outwards to whole pixels, so
/// that a mask never shrinks.
std::vector<LiveZone> zones_on(const LiveZones& zones, const Shape& picture);

/// Fills `counted` with the objects whose bounding box touches one of `areas`, or with all objects if there are no
/// areas.
void count_in(std::span<const Zone> areas, std::span<const Component> objects, std::vector<Component>& counted);

/// How a camera's filters run.
struct LivePlan {
    /// Backend that runs them: "cpu" or "cuda".
    std::string backend{};
    /// Filters and conversions in their order; empty if frames are not filtered.
    std::vector<PlannedStep> steps{};
};

/// State of a served camera.
struct LiveCameraState {
    /// Name of the stream.
    std::string name;
    /// Source as shown to people, without passwords.
    std::string source;
    /// True while frames arrive; false while the camera is lost or has not yet delivered one.
    bool up = false;
    /// Number of times the camera was lost and came back.
    std::int64_t reconnects = 0;
    /// True if control requests are accepted.
    bool may_be_set = false;
    /// Shapes of frames as captured and as filtered.
    Shape source_shape{}, shape{};
    /// Nominal frames per second.
    double rate = 0;
    /// Filter chain as text, including filters that are switched off.
    std::string chain{};
    /// Plan of the filters that are on. Empty before the source is opened, and for a stream that is forwarded
    /// unchanged.
    std::optional<LivePlan> plan{};
    /// Picture controls and filter switches.
    Controls controls{};
    /// Privacy masks and detection areas, in pixels of `source_shape`.
    std::vector<LiveZone> zones{};
    /// Event zones, as fractions of the source's frame.
    ZoneSet event_zones{};
    /// Encoding mode of the stream.
    codec::Mode mode = codec::Mode::exact;
    /// Requested threshold, and the greatest one that rate control may choose.
    int threshold = 0, threshold_max = 0;
    /// True if the camera has a detector.
    bool detects = false;
    /// Recording started by request; empty if there is none.
    std::optional<LiveRecordingState> recording{};
    /// Command line that serves the camera with these settings.
    std::string command{};
};

/// A served camera as the page and the API see it: queries and control requests. Thread-safe. Requests throw
/// Error{usage} that says what is allowed, and Error{config} if the camera or the server does not accept such a
/// request. A request that changes the chain, controls, threshold or zones returns once it is in effect in the picture
/// that viewers see.
class LiveCamera {
public:
    virtual ~LiveCamera() = default;

    /// Returns the name of the stream, which never changes.
    virtual const std::string& name() const = 0;
    /// Returns a snapshot of the camera's state.
    virtual LiveCameraState state() const = 0;
    /// Returns the camera's statistics over all of its jobs.
    virtual StatisticsSnapshot figures() const = 0;
    /// Returns the traffic to the camera's viewers over all of its jobs.
    virtual net::StreamMetrics viewers() const = 0;
    /// A copy of R, the picture that viewers see. `image` is 1 x height x width x channels; `version` grows with each
    /// new picture; `seconds` is the time of its frame as in FrameTime.
    struct Picture {
        HostImage image;
        std::uint64_t version = 0;
        double seconds = 0;
    };
    /// Returns a copy of R, or nullopt before the first frame.
    virtual std::optional<Picture> picture() const = 0;
    /// Returns the version of the newest picture, or 0 before the first one. Cheap, so callers can poll it.
    virtual std::uint64_t picture_version() const = 0;

    /// Returns the oldest version that may still be shown, because a completed request withdrew all older ones. 0: any
    /// version may be shown.
    virtual std::uint64_t oldest_picture_version() const { return 0; }
    /// Returns the sound of the source, which also gives the pictures' times; null if it is not to be heard. Always
    /// the same object.
    virtual std::shared_ptr<SoundTap> sound() const { return nullptr; }

    /// Replaces the filter chain from the next frame on. Viewers stay connected if the frame size stays the same;
    /// otherwise they are disconnected and can reconnect.
    virtual void set_chain(const std::string& text) = 0;
    /// Switches a filter or sets the picture controls.
    virtual void control(const ControlRequest& request) = 0;
    /// Carries out a request that `make` derives from the current adjustment. A ServedCamera does so atomically: two
    /// such requests that change different fields at the same time both take effect.
    virtual void control_by(const std::function<ControlRequest(const Adjustment& now)>& make) {
        control(make(state().controls.adjustment));
    }
    /// Sets threshold and mode from the next frame on; nullopt leaves the value unchanged. A new mode, or a threshold
    /// above the bound that viewers were sent, disconnects the viewers, which can then reconnect.
    virtual void set_threshold(std::optional<int> threshold, std::optional<codec::Mode> mode) = 0;
    /// Replaces all privacy masks and detection areas. Coordinates are pixels of the source's frame.
    virtual void set_zones(const std::vector<LiveZone>& zones) = 0;
    /// Replaces the event zones from the next frame on. Throws Error{config} if the camera has no detector.
    virtual void set_event_zones(const ZoneSet& zones) = 0;
    /// Starts a recording of what viewers receive, as a new .fwd file in the server's recording folder. Returns its
    /// name.
    virtual std::string start_recording() = 0;
    /// Completes the recording that start_recording() began.
    virtual void stop_recording() = 0;
    /// Writes R as a PNG file into the recording folder and returns its name.
    virtual std::string save_snapshot() = 0;
};

/// Files that served cameras use for control requests.
struct LiveOptions {
    /// Optional. File of the persisted state; empty: settings are not persisted.
    std::string state_path{};
    /// Optional. Folder for recordings and snapshots; empty: requests for them are refused.
    std::string record_folder{};
};

}  // namespace framewire::service
