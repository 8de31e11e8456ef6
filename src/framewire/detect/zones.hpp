#pragma once

#include "framewire/core/error.hpp"
#include "framewire/detect/tracker.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// A position as fractions of the picture: 0, 0 is its top left corner and 1, 1 its bottom right one.
struct ZonePoint {
    double x = 0;  ///< 0 to 1, from the left edge
    double y = 0;  ///< 0 to 1, from the top edge

    friend bool operator==(const ZonePoint&, const ZonePoint&) = default;
};

/// The point of an object's box that counts as the object's position.
enum class ZoneAnchor {
    bottom,  ///< centre of the lower edge: where something that stands on the ground touches it
    centre,  ///< centre of the box: for cameras that look straight down
    top      ///< centre of the upper edge
};

/// A named polygon or line, and the events that it causes.
struct EventZone {
    /// Unique within its ZoneSet; 1 to max_zone_name_bytes bytes of printable UTF-8.
    std::string name{};
    /// Corners of a polygon, 3 to max_zone_corners, or the two ends of a line. A polygon includes its edges. If edges
    /// intersect, the even-odd rule defines what is inside.
    std::vector<ZonePoint> points{};
    bool enter = false;    ///< polygons: report objects that get inside
    bool leave = false;    ///< polygons: report objects that get outside or disappear inside
    bool loiter = false;   ///< polygons: report objects that stay inside for `loiter_s`
    bool cross = false;    ///< lines: report objects that cross
    double loiter_s = 10;  ///< up to max_loiter_s, more than 0
    /// Names of the two directions in which a line is crossed: to the right and to the left, as seen by someone who
    /// walks in the picture from the line's first end to its second.
    std::array<std::string, 2> directions{"right", "left"};
    /// Smallest object that counts, as the area of its box in fractions of the picture's area. An object that was large
    /// enough once counts until it disappears.
    double min_area = 0;
    ZoneAnchor anchor = ZoneAnchor::bottom;

    /// Returns true if the zone is a line.
    bool is_line() const { return points.size() == 2; }
    friend bool operator==(const EventZone&, const EventZone&) = default;
};

inline constexpr std::size_t max_event_zones = 64;           ///< maximum number of zones of a ZoneSet
inline constexpr std::size_t max_zone_corners = 64;          ///< maximum number of corners of a polygon
inline constexpr std::size_t max_zone_name_bytes = 64;       ///< maximum length of a name, also of a direction's
inline constexpr std::size_t max_zone_file_bytes = 1 << 20;  ///< maximum size of a file of zones
inline constexpr double max_loiter_s = 86'400;               ///< maximum time of EventZone::loiter_s

/// The event zones of one camera or video. Immutable, so copies share their zones.
///
/// The JSON form is an object:
///
///     {"zones":[{"name":"drive","polygon":[[0.1,0.5],[0.9,0.5],[0.9,1]],"events":["enter","leave"]},
///               {"name":"porch","polygon":[[0,0],[0.5,0],[0.5,1],[0,1]],"loiter":20,"min_area":0.01},
///               {"name":"gate","line":[[0.5,0],[0.5,1]],"directions":["in","out"],"anchor":"centre"}],
///      "hysteresis":0.1}
///
/// With `"size":[WIDTH,HEIGHT]` all coordinates and areas are in pixels of a picture of that size instead of fractions.
/// `events` defaults to enter and leave, or cross for a line; `loiter`, a number of seconds, adds loiter to that.
class ZoneSet {
public:
    /// The zones share memory with the events that they cause.
    using Zones = std::vector<std::shared_ptr<const EventZone>>;

    ZoneSet() = default;
    /// Makes a set of these zones. Throws Error{usage} if the set or one of its zones is not as described above.
    explicit ZoneSet(std::span<const EventZone> zones, double hysteresis = usual_hysteresis);

    /// Parses the JSON form. The text is untrusted: sizes and counts are checked before memory is allocated for them.
    /// Throws Error with `code` if it is not valid, with a message that begins with `name` and the place, for example
    /// "zones.json: zones[2].polygon[0]: ...".
    static ZoneSet parse(std::string_view json, std::string_view name, ErrorCode code = ErrorCode::usage);
    /// Reads a file. Throws Error{usage} if it cannot be read, and as parse() does.
    static ZoneSet read(const std::string& path);

    /// Returns the zones in their order.
    const Zones& zones() const { return zones_; }
    /// Returns true if there is no zone.
    bool empty() const { return zones_.empty(); }
    /// Returns how far an object must move before its position follows, as a fraction of the longer side of its box.
    double hysteresis() const { return hysteresis_; }
    /// Returns the set in the JSON form on one line, in ASCII, with fractions. parse() returns an equal set.
    std::string to_json() const;

    /// Default of hysteresis().
    static constexpr double usual_hysteresis = 0.1;
    /// Compares names, coordinates and options.
    friend bool operator==(const ZoneSet& a, const ZoneSet& b);

private:
    Zones zones_{};
    double hysteresis_ = usual_hysteresis;
};

/// An object did something in a zone.
struct ZoneEvent {
    /// Kind of event.
    enum class Type {
        enter,   ///< the object got inside a polygon, or appeared there
        leave,   ///< the object got outside, or disappeared inside
        loiter,  ///< the object has been inside for EventZone::loiter_s; once per stay
        cross    ///< the object crossed a line
    };
    Type type = Type::enter;
    std::shared_ptr<const EventZone> zone{};
    /// Id of the object's track.
    std::int64_t track = 0;
    /// Box of the object in pixels: left, top, width and height. If it has disappeared, its last box.
    double x = 0, y = 0, width = 0, height = 0;
    /// For leave and loiter: seconds from `enter` until now or, for an object that has disappeared, until it was last
    /// seen.
    double seconds = 0;
    /// For cross: index into EventZone::directions.
    int direction = 0;
    /// For leave: true if the object is no longer tracked or the zone was removed, false if the object moved outside.
    bool gone = false;
};

/// Returns "enter", "leave", "loiter" or "cross".
std::string_view to_string(ZoneEvent::Type type);

/// Returns the members of an event as JSON, without braces:
///     "event":"leave","zone":"drive","track":7,"box":[96,40,31,64],"seconds":12.40,"gone":true
/// `seconds` is there for leave and loiter, `gone` for leave, and `"direction":"in"` for cross. Boxes are rounded to
/// whole pixels.
std::string event_members(const ZoneEvent& event);

/// Returns a JSON array of events, with one object per event, for records of frames.
std::string events_json(std::span<const ZoneEvent> events);

/// Finds out which tracked objects enter, leave, cross and loiter. Move-only; not thread-safe.
///
/// **Position.** An object is where the anchor of its box is, with play: a settled position follows the anchor at a
/// distance of at most ZoneSet::hysteresis() times the longer side of the box, and at least 2 pixels, so that an anchor
/// that jitters by less than that causes no events (the play operator of Krasnosel'skii and Pokrovskii 1989). It begins
/// at the first anchor. Positions are rounded to 1/256 pixel and everything after that is exact in 64-bit integers.
///
/// **Unseen objects.** While a track has no box in the frame, its position does not change, because predictions may
/// cross lines that the object never crosses. The first box afterwards counts as a straight move. An object leaves when
/// its track ends.
///
/// **Lines.** A line is crossed if the settled position moves from one side to the other and the straight path between
/// meets the line, ends included. Positions on the line belong to its right side.
class ZoneEvents {
public:
    /// Prepares for frames of this size, in which the tracks' boxes are. Throws Error{usage} unless both sides are 1 to
    /// max_side_px.
    ZoneEvents(ZoneSet zones, int width, int height);
    ~ZoneEvents();
    ZoneEvents(ZoneEvents&&) noexcept;
    ZoneEvents& operator=(ZoneEvents&&) noexcept;

    /// Returns the events of the next frame, given its tracks in ascending order of their ids: first those of tracks
    /// that ended, then by track and zone. Valid until the next call. `time_s` is the frame's time and should not
    /// decrease. Allocates only if a frame has more tracks or events than any before it.
    std::span<const ZoneEvent> update(std::span<const Track> tracks, double time_s);
    /// Replaces the zones. Zones that are equal to earlier ones continue. The next update() reports that objects left
    /// the others.
    void set_zones(ZoneSet zones);
    /// Forgets all tracks. Returns events for objects that were inside, as if their tracks had ended. Valid until the
    /// next call.
    std::span<const ZoneEvent> end();

    /// Returns the zones in force.
    const ZoneSet& zones() const;
    /// Returns the number of objects inside each zone, in the order of the zones; 0 for lines. Valid until the next
    /// call.
    std::span<const int> inside() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Integer geometry of zones, in units of 1/256 pixel.
namespace zone_geometry {

/// A position in units of 1/256 pixel. Coordinates must be within +-2^29.
struct GridPoint {
    std::int64_t x = 0, y = 0;

    friend bool operator==(const GridPoint&, const GridPoint&) = default;
};

/// Units per pixel.
inline constexpr int units_per_px = 256;

/// Returns twice the signed area of the triangle a, b, p. It is positive if p is to the right of the way from a to b in
/// a picture, whose y axis points down, and 0 if it is on the line.
constexpr std::int64_t area_of(const GridPoint& a, const GridPoint& b, const GridPoint& p) {
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/// Returns true if `p` is inside the polygon by the even-odd rule, or on an edge.
bool contains(std::span<const GridPoint> polygon, const GridPoint& p);

/// Returns true if two closed line segments have a common point.
bool meet(const GridPoint& a, const GridPoint& b, const GridPoint& c, const GridPoint& d);

/// Returns 0 if the straight path from `from` to `to` crosses the line from `a` to `b` to its right side, 1 if to its
/// left side, and -1 if it does not cross. Points on the line belong to its right side.
int crossing(const GridPoint& a, const GridPoint& b, const GridPoint& from, const GridPoint& to);

}  // namespace zone_geometry

}  // namespace framewire
