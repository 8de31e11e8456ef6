#pragma once

#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/tracker.hpp"
#include "framewire/detect/zones.hpp"
#include "framewire/net/http.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::service {

/// Objects found in a frame that was just sent.
struct SeenFrame {
    /// Time of the frame.
    FrameTime time{};
    /// Shape of the picture that viewers receive.
    Shape shape{};
    /// Objects at the positions where viewers see them. Valid during the call.
    std::span<const Component> objects{};
    /// Tracks where viewers see them; empty if objects are not tracked. Valid during the call.
    std::span<const Track> tracks{};
    /// Events in zones, with boxes at the positions where viewers see them. Valid during the call.
    std::span<const ZoneEvent> events{};
};

/// The event zones of a camera, and which of them have objects inside.
struct ZoneOccupancy {
    ZoneSet zones{};
    /// For each zone, true if an object is inside; always false for lines.
    std::vector<bool> occupied{};
};

/// Receiver for the frames that a camera with a detector sends: in order, from one thread at a time. Frames that only
/// say "no signal" are skipped.
class SeenObjects {
public:
    virtual ~SeenObjects() = default;
    /// Takes one frame. Called while the frame is being sent, so it must not block.
    virtual void seen(const SeenFrame& frame) noexcept = 0;
    /// Takes the zones when they have been set, or when the first object got inside one or the last one outside, before
    /// the frame with the event. `inside` has the number of objects in each zone. Must not block. Default: ignored.
    virtual void zones_changed(const ZoneSet& /*zones*/, std::span<const int> /*inside*/) noexcept {}
};

/// Wall-clock time for people and other systems. Clock, in contrast, is monotonic.
using WallTime = std::chrono::system_clock::time_point;

/// An event of one camera, ready to be sent.
struct Event {
    /// Kind of event; each has its own topics and JSON members.
    enum class Type {
        /// The objects in a frame; empty when the last one has disappeared.
        objects,
        /// Start or end of motion.
        motion,
        /// An object entered, left or crossed a zone, or stayed in it.
        zone
    };
    Type type = Type::objects;
    /// Name of the camera.
    std::string camera;
    /// For events of type motion: true if motion is ON.
    bool on = false;
    /// The event as a JSON object without line breaks.
    std::string json;
};

/// Event that several outputs share.
using SharedEvent = std::shared_ptr<const Event>;

/// Maximum length of an event's JSON: net::max_objects objects with the largest numbers.
inline constexpr std::size_t max_event_bytes = 1 << 18;

/// Returns "objects", "motion" or "zone".
std::string_view to_string(Event::Type type);

/// Returns the event for the objects in a frame. `camera` must be a stream name, which needs no escaping in JSON. Each
/// object is as in to_json_line():
///     {"type":"objects","id":...,"camera":...,"frame":17,"time":"2026-11-23T19:00:00.123Z","width":..,"height":..,
///     "objects":[...]}
SharedEvent objects_event(const std::string& camera, const std::string& id, WallTime time, const SeenFrame& frame);
/// Returns a motion event: `{"type":"motion","id":...,"camera":...,"state":"ON","frame":17,"time":...}`.
SharedEvent motion_event(const std::string& camera, const std::string& id, WallTime time, bool on, std::int64_t frame);
/// Returns the event of an object in a zone, with the members that event_members() describes:
///     {"type":"zone","id":...,"camera":...,"frame":17,"time":...,"width":..,"height":..,"event":"enter",...}
SharedEvent zone_event(const std::string& camera, const std::string& id, WallTime time, const SeenFrame& frame,
                       const ZoneEvent& event);

/// Parses an event. Returns nullopt if `json` is not an event or is longer than max_event_bytes.
std::optional<Event> read_event(std::string_view json);

/// Returns the time in UTC as "2026-11-23T19:00:00.123Z" (RFC 3339).
std::string to_utc_text(WallTime time);

/// Generates the ids of one camera's events: NAME-MILLISECONDS-N, with the start time of the server and a number that
/// counts from 1 without gaps. A restart changes all ids, and a receiver that misses a number has lost an event.
class EventIds {
public:
    /// `started` is when the server started.
    EventIds(const std::string& camera, WallTime started);
    /// Returns the next id.
    std::string next();

private:
    std::string prefix_;
    std::uint64_t given_ = 0;
};

/// Events for HTTP clients, from all cameras or from one. Each event is encoded at most once per format. Thread-safe,
/// because feeds are.
class EventFeeds {
public:
    /// `cameras` are the names of the cameras with a detector.
    explicit EventFeeds(std::span<const std::string> cameras);

    /// A feed that HTTP clients share.
    using FeedPointer = std::shared_ptr<net::http::Feed>;
    /// Returns the feed of server-sent events, each as `event: TYPE` and `data: JSON` (WHATWG HTML, section 9.2). If
    /// `camera` is empty, the feed has the events of all cameras. Returns null if there is no such camera or it has no
    /// detector.
    FeedPointer server_sent(const std::string& camera) const;
    /// Returns the feed of WebSocket messages, each the JSON of one event.
    FeedPointer messages(const std::string& camera) const;

    /// Publishes an event to the feeds of its camera and to those of all cameras.
    void tell(const SharedEvent& event);
    /// Sends a comment to clients of server-sent events, so that dead connections are noticed.
    void keep_alive();
    /// Ends all feeds.
    void end();

private:
    struct Both {
        FeedPointer server_sent = std::make_shared<net::http::Feed>();
        FeedPointer messages = std::make_shared<net::http::Feed>();
    };
    const Both* find(const std::string& camera) const;

    // by camera name; the empty name is for all cameras
    std::map<std::string, Both> feeds_;
};

/// A destination for events in addition to HTTP clients of this server.
class EventOutput {
public:
    virtual ~EventOutput() = default;
    /// Accepts the next event, from one thread. Queues events that cannot be sent yet and never blocks.
    virtual void tell(const SharedEvent& event) = 0;
    /// Accepts the present zones of a camera, from the same thread. Only the newest ones count. Default: ignored.
    virtual void tell_zones(const std::string& /*camera*/, const ZoneOccupancy& /*zones*/) {}
    /// Sends queued events until `deadline` at most, then stops. Call it after the last event.
    virtual void end(Clock::time_point deadline) = 0;
};

/// When motion switches ON and OFF.
struct MotionRules {
    /// Number of consecutive frames with objects after which motion is ON.
    int after_frames = 3;
    /// Motion is OFF after this time without objects.
    Clock::duration hold = std::chrono::seconds(30);
};

/// Hysteresis that switches a camera's motion ON and OFF. A value type without a clock.
class MotionState {
public:
    /// Starts OFF.
    explicit MotionState(const MotionRules& rules) : rules_(rules) {}

    /// Processes one frame. Returns true if it switches motion ON.
    bool seen(Clock::time_point captured, bool objects) {
        consecutive_ = objects ? consecutive_ + 1 : 0;
        if (objects) last_objects_ = captured;
        if (on_ || consecutive_ < rules_.after_frames) return false;
        return on_ = true;
    }

    /// Returns when motion switches OFF if no more objects are seen, or nullopt if it is OFF.
    std::optional<Clock::time_point> ends() const {
        if (!on_) return std::nullopt;
        return last_objects_ + rules_.hold;
    }

    /// Switches motion OFF if its hold time has passed or `at_once` is true. Returns true if it was ON and is OFF now.
    bool end(Clock::time_point now, bool at_once = false) {
        if (!on_ || (!at_once && now < last_objects_ + rules_.hold)) return false;
        on_ = false;
        consecutive_ = 0;
        return true;
    }

    /// Returns true while motion is ON.
    bool on() const { return on_; }

private:
    MotionRules rules_;
    int consecutive_ = 0;
    Clock::time_point last_objects_{};
    bool on_ = false;
};

}  // namespace framewire::service
