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

using WallTime = std::chrono::system_clock::time_point;

/// One thing that a camera saw, ready to be told.
struct Event {
    enum class Type {
        objects,  ///< what is in a frame, or that nothing is any more
        motion    ///< whether something moves
    };
    Type type = Type::objects;
    std::string camera;
    bool on = false;   ///< of motion
    std::string json;  ///< an object without line breaks
};

using SharedEvent = std::shared_ptr<const Event>;

/// Longest JSON of an event: of net::max_objects objects with the largest numbers.
inline constexpr std::size_t max_event_bytes = 1 << 18;

/// "objects", "motion".
std::string_view to_string(Event::Type type);

/// `{"type":"objects","id":...,"camera":...,"frame":17,"time":"2026-11-23T19:00:00.123Z","width":..,"height":..,
/// "objects":[...]}`, each object as in to_json_line(). Names of cameras are names of streams.
SharedEvent objects_event(const std::string& camera, const std::string& id, WallTime time, const SeenFrame& frame);
/// `{"type":"motion","id":...,"camera":...,"state":"ON","frame":17,"time":...}`.
SharedEvent motion_event(const std::string& camera, const std::string& id, WallTime time, bool on, std::int64_t frame);

/// The event that `json` is; none where it is no event, or one that is too long.
std::optional<Event> read_event(std::string_view json);

/// "2026-11-23T19:00:00.123Z".
std::string to_utc_text(WallTime time);

/// Identities of one camera's events, NAME-MILLISECONDS-N: when the server started, and a number from 1 without gaps.
/// So they are other ones after a restart, and who lacks a number knows it.
class EventIds {
public:
    EventIds(const std::string& camera, WallTime started);
    std::string next();

private:
    std::string prefix_;
    std::uint64_t given_ = 0;
};

}  // namespace framewire::session
