#pragma once

#include "framewire/session/events/seen_objects.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::session {

/// Time for people and other systems, unlike the monotonic Clock.
using WallTime = std::chrono::system_clock::time_point;

/// An event of one camera, ready to be sent.
struct Event {
    /// Kind of event; each has its own topics and JSON members.
    enum class Type {
        /// The objects in a frame, or that there are none any more.
        objects,
        /// Start or end of motion.
        motion
    };
    Type type = Type::objects;
    /// Name of the camera.
    std::string camera;
    /// State, for events of type motion.
    bool on = false;
    /// The event as a JSON object without line breaks.
    std::string json;
};

/// Event that several outputs share.
using SharedEvent = std::shared_ptr<const Event>;

/// Maximum length of an event's JSON: net::max_objects objects with the largest numbers.
inline constexpr std::size_t max_event_bytes = 1 << 18;

/// Returns "objects" or "motion".
std::string_view to_string(Event::Type type);

/// Makes an event of the objects in a frame. `camera` must be a stream name, which needs no escaping in JSON. Each
/// object is as in to_json_line():
///     {"type":"objects","id":...,"camera":...,"frame":17,"time":"2026-11-23T19:00:00.123Z","width":..,"height":..,
///     "objects":[...]}
SharedEvent objects_event(const std::string& camera, const std::string& id, WallTime time, const SeenFrame& frame);
/// Makes an event of motion: `{"type":"motion","id":...,"camera":...,"state":"ON","frame":17,"time":...}`.
SharedEvent motion_event(const std::string& camera, const std::string& id, WallTime time, bool on, std::int64_t frame);

/// Parses an event; empty if `json` is not an event or is longer than max_event_bytes.
std::optional<Event> read_event(std::string_view json);

/// Returns the time in UTC as "2026-11-23T19:00:00.123Z" (RFC 3339).
std::string to_utc_text(WallTime time);

/// Makes the ids of one camera's events, NAME-MILLISECONDS-N: the start of the server, and a number that counts from 1
/// without gaps. A restart changes all ids, and a receiver that misses a number has lost an event.
class EventIds {
public:
    /// `started` is the start of the server.
    EventIds(const std::string& camera, WallTime started);
    /// Returns the next id.
    std::string next();

private:
    std::string prefix_;
    std::uint64_t given_ = 0;
};

}  // namespace framewire::session
