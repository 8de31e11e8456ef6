#include "framewire/detect/zones.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

// Sets of zones and their JSON form.

namespace framewire {
namespace {

// Returns true if all points are on one line.
bool collinear(std::span<const ZonePoint> points) {
    for (const auto& b : points)
        for (const auto& c : points) {
            const auto& a = points.front();
            if ((b.x - a.x) * (c.y - a.y) != (b.y - a.y) * (c.x - a.x)) return false;
        }
    return true;
}

// Throws Error{usage} unless the text is short, printable and not empty. `what` names it in the message.
void validate_name(std::string_view what, const std::string& name) {
    if (name.empty() || name.size() > max_zone_name_bytes || name != printable(name))
        fail(ErrorCode::usage, "the {} {} is not valid; allowed: 1 to {} bytes of printable UTF-8", what,
             in_quotes(name), max_zone_name_bytes);
}

// Throws Error{usage} unless the zone is as EventZone describes it.
void validate(const EventZone& zone) {
    validate_name("name", zone.name);
    for (const auto& direction : zone.directions) validate_name("direction", direction);
    if (zone.directions[0] == zone.directions[1])
        fail(ErrorCode::usage, "both directions are {}; allowed: two different names", in_quotes(zone.directions[0]));
    if (zone.points.size() < 2 || zone.points.size() > max_zone_corners)
        fail(ErrorCode::usage, "{} points; allowed: 2 for a line, 3 to {} for a polygon", zone.points.size(),
             max_zone_corners);
    const auto inside = [](double at) { return at >= 0 && at <= 1; };
    for (const auto& point : zone.points)
        if (!inside(point.x) || !inside(point.y))
            fail(ErrorCode::usage, "the point {},{} is outside of the picture; allowed: 0 to 1", point.x, point.y);
    if (zone.is_line() && zone.points[0] == zone.points[1])
        fail(ErrorCode::usage, "both ends of the line are the same point");
    if (!zone.is_line() && collinear(zone.points))
        fail(ErrorCode::usage, "all corners of the polygon are on one line, so it has no area");
    if (zone.is_line() ? zone.enter || zone.leave || zone.loiter : zone.cross)
        fail(ErrorCode::usage, "a {} has no such event; allowed: {}", zone.is_line() ? "line" : "polygon",
             zone.is_line() ? "cross" : "enter, leave and loiter");
    if (!(zone.loiter_s > 0 && zone.loiter_s <= max_loiter_s))
        fail(ErrorCode::usage, "loiter {} is out of range; allowed: more than 0, up to {} seconds", zone.loiter_s,
             max_loiter_s);
    if (!inside(zone.min_area)) fail(ErrorCode::usage, "min_area {} is out of range; allowed: 0 to 1", zone.min_area);
}

void validate_hysteresis(double hysteresis) {
    if (!(hysteresis >= 0 && hysteresis <= 1))
        fail(ErrorCode::usage, "hysteresis {} is out of range; allowed: 0 to 1, a fraction of an object's longer side",
             hysteresis);
}

struct AnchorName {
    std::string_view name;
    ZoneAnchor anchor;
};
constexpr AnchorName anchors[] = {
    {"bottom", ZoneAnchor::bottom}, {"centre", ZoneAnchor::centre}, {"top", ZoneAnchor::top}};

using ZoneJson = nlohmann::ordered_json;

// Parser callback. Refuses deep nesting and repeated keys; the parser itself would keep one of several values.
class StrictParsing {
public:
    bool operator()(int depth, ZoneJson::parse_event_t event, const ZoneJson& value) {
        using Event = ZoneJson::parse_event_t;
        constexpr int deepest = 5;  // object, zones, zone, polygon, point
        if (depth > deepest) fail(ErrorCode::usage, "nested deeper than {} levels", deepest);
        if (event == Event::object_start) keys_.emplace_back();
        if (event == Event::object_end) keys_.pop_back();
        if (event == Event::key && !keys_.back().insert(value.get<std::string>()).second)
            fail(ErrorCode::usage, "{} is given twice", in_quotes(value.get<std::string>()));
        return true;
    }

private:
    std::vector<std::set<std::string>> keys_;  // keys seen in each open object
};

// A JSON value with its place for messages, such as "zones.json: zones[2].polygon[0]".
class ZonePlace {
public:
    ZonePlace(const ZoneJson& value, std::string path, std::string separator, ErrorCode code)
        : value_(&value), path_(std::move(path)), separator_(std::move(separator)), code_(code) {}

    [[noreturn]] void refuse(std::string_view what) const { fail(code_, "{}: {}", path_, what); }
    // Throws an error that shows the value, or its type if that is not a number or text, and what is allowed.
    [[noreturn]] void expect(std::string_view allowed) const {
        const auto shown = value_->is_number()   ? value_->dump()
                           : value_->is_string() ? in_quotes(value_->get<std::string>())
                                                 : fmt::format("of type {}", value_->type_name());
        refuse(fmt::format("is {}; allowed: {}", shown, allowed));
    }
    // Calls `body`. Errors that it throws are reported as errors of this value.
    template <class Body>
    void attempt(const Body& body) const {
        try {
            body();
        } catch (const Error& error) {
            refuse(error.what());
        }
    }

    bool has(const char* key) const { return value_->contains(key); }
    ZonePlace at(const char* key) const {
        if (!has(key)) refuse(fmt::format("'{}' is missing", key));
        return {(*value_)[key], path_ + separator_ + key, ".", code_};
    }
    ZonePlace at(std::size_t index) const {
        return {(*value_)[index], fmt::format("{}{}[{}]", path_, separator_ == "." ? "" : separator_, index), ".",
                code_};
    }
    void require_keys(std::initializer_list<std::string_view> allowed) const {
        if (!value_->is_object()) expect("an object");
        for (const auto& [key, one] : value_->items())
            if (std::ranges::find(allowed, key) == allowed.end())
                refuse(fmt::format("unknown key {}; allowed: {}{}", in_quotes(key), fmt::join(allowed, ", "),
                                   did_you_mean(key, {allowed.begin(), allowed.end()})));
    }
    // Returns the length of the list, which must be from `least` to `most`.
    std::size_t length(std::size_t least, std::size_t most, std::string_view what) const {
        const auto allowed = least == most ? fmt::to_string(most) : fmt::format("{} to {}", least, most);
        if (!value_->is_array()) expect(fmt::format("a list of {} {}", allowed, what));
        if (value_->size() < least || value_->size() > most)
            refuse(fmt::format("has {} {}; allowed: {}", value_->size(), what, allowed));
        return value_->size();
    }
    double number(double least, double most, std::string_view allowed) const {
        const auto number = value_->is_number() ? value_->get<double>() : std::numeric_limits<double>::quiet_NaN();
        if (!(number >= least && number <= most)) expect(allowed);
        return number;
    }
    std::string text(std::string_view allowed) const {
        if (!value_->is_string()) expect(allowed);
        return value_->get<std::string>();
    }
    // Returns the index of the value in a list of names.
    std::size_t one_of(std::span<const std::string_view> names) const {
        const auto given = text(fmt::format("{}", fmt::join(names, ", ")));
        const auto found = std::ranges::find(names, given);
        if (found == names.end())
            refuse(fmt::format("{} is unknown; allowed: {}{}", in_quotes(given), fmt::join(names, ", "),
                               did_you_mean(given, names)));
        return static_cast<std::size_t>(found - names.begin());
    }

private:
    const ZoneJson* value_;
    std::string path_, separator_;
    ErrorCode code_;
};

// The unit of coordinates: the picture's size in pixels, or none for fractions.
struct CoordinateUnit {
    std::optional<std::array<double, 2>> size{};

    // Returns the coordinate as a fraction; `axis` is 0 for x and 1 for y.
    double coordinate(const ZonePlace& place, std::size_t axis) const {
        const auto* side = axis == 0 ? "width" : "height";
        if (!size)
            return place.number(0, 1,
                                fmt::format("0 to 1, a fraction of the picture's {}; for pixels add "
                                            "\"size\":[WIDTH,HEIGHT]",
                                            side));
        const auto most = (*size)[axis];
        return place.number(0, most, fmt::format("0 to {}, the picture's {} in pixels", most, side)) / most;
    }
    ZonePoint point(const ZonePlace& place) const {
        place.length(2, 2, "coordinates");
        return {coordinate(place.at(std::size_t{0}), 0), coordinate(place.at(std::size_t{1}), 1)};
    }
    double area(const ZonePlace& place) const {
        if (!size) return place.number(0, 1, "0 to 1, a fraction of the picture's area");
        const auto most = (*size)[0] * (*size)[1];
        return place.number(0, most, fmt::format("0 to {}, an area in pixels", most)) / most;
    }
};

CoordinateUnit unit_of(const ZonePlace& root) {
    if (!root.has("size")) return {};
    const auto place = root.at("size");
    place.length(2, 2, "sides");
    const auto side = [&](std::size_t index) {
        const auto allowed = fmt::format("a whole number of pixels from 1 to {}", max_side_px);
        const auto number = place.at(index).number(1, max_side_px, allowed);
        if (number != std::floor(number)) place.at(index).expect(allowed);
        return number;
    };
    return {std::array{side(0), side(1)}};
}

// Reads which events a zone causes. By default a polygon causes all for which it has what they need.
void read_events(const ZonePlace& place, EventZone& zone) {
    static constexpr std::string_view of_line[] = {"cross"}, of_polygon[] = {"enter", "leave", "loiter"};
    const bool has_time = place.has("loiter");
    if (zone.is_line() && has_time) place.at("loiter").refuse("a line has no loiter time; allowed: only polygons");
    if (has_time) {
        const auto allowed = fmt::format("more than 0, up to {} seconds", max_loiter_s);
        zone.loiter_s = place.at("loiter").number(0, max_loiter_s, allowed);
        if (zone.loiter_s == 0) place.at("loiter").expect(allowed);
    }
    if (!place.has("events")) {
        zone.cross = zone.is_line();
        zone.enter = zone.leave = !zone.is_line();
        zone.loiter = has_time;
        return;
    }
    const auto list = place.at("events");
    const auto names = zone.is_line() ? std::span<const std::string_view>(of_line) : of_polygon;
    const auto count = list.length(1, names.size(), "events");
    bool* const flags[] = {zone.is_line() ? &zone.cross : &zone.enter, &zone.leave, &zone.loiter};
    for (std::size_t index = 0; index < count; ++index) {
        auto& flag = *flags[list.at(index).one_of(names)];
        if (flag) list.at(index).refuse("is given twice");
        flag = true;
    }
    if (has_time && !zone.loiter) place.at("loiter").refuse("has no effect, because events does not list loiter");
}

EventZone read_zone(const ZonePlace& place, const CoordinateUnit& unit) {
    place.require_keys({"name", "polygon", "line", "events", "loiter", "directions", "min_area", "anchor"});
    EventZone zone;
    zone.name = place.at("name").text("a text");
    if (place.has("polygon") == place.has("line")) place.refuse("needs either polygon or line");
    const bool is_line = place.has("line");
    const auto points = place.at(is_line ? "line" : "polygon");
    const auto count = is_line ? points.length(2, 2, "points") : points.length(3, max_zone_corners, "points");
    zone.points.reserve(count);
    for (std::size_t index = 0; index < count; ++index) zone.points.push_back(unit.point(points.at(index)));
    read_events(place, zone);
    if (place.has("directions")) {
        const auto names = place.at("directions");
        if (!is_line) names.refuse("a polygon has no directions; allowed: only lines");
        names.length(2, 2, "names");
        for (std::size_t index = 0; index < 2; ++index) zone.directions[index] = names.at(index).text("a text");
    }
    if (place.has("min_area")) zone.min_area = unit.area(place.at("min_area"));
    if (place.has("anchor")) {
        static constexpr std::string_view names[] = {anchors[0].name, anchors[1].name, anchors[2].name};
        zone.anchor = anchors[place.at("anchor").one_of(names)].anchor;
    }
    place.attempt([&] { validate(zone); });
    return zone;
}

ZoneJson json_of(const EventZone& zone) {
    auto points = ZoneJson::array(), events = ZoneJson::array();
    for (const auto& point : zone.points) points.push_back({point.x, point.y});
    if (zone.enter) events.push_back("enter");
    if (zone.leave) events.push_back("leave");
    if (zone.loiter) events.push_back("loiter");
    if (zone.cross) events.push_back("cross");
    ZoneJson json{{"name", zone.name}, {zone.is_line() ? "line" : "polygon", std::move(points)}};
    json["events"] = std::move(events);
    if (zone.loiter) json["loiter"] = zone.loiter_s;
    if (zone.is_line()) json["directions"] = zone.directions;
    json["min_area"] = zone.min_area;
    json["anchor"] = anchors[static_cast<std::size_t>(zone.anchor)].name;
    return json;
}

}  // namespace

ZoneSet::ZoneSet(std::span<const EventZone> zones, double hysteresis) : hysteresis_(hysteresis) {
    validate_hysteresis(hysteresis);
    if (zones.size() > max_event_zones)
        fail(ErrorCode::usage, "{} zones; the limit is {}", zones.size(), max_event_zones);
    zones_.reserve(zones.size());
    for (const auto& zone : zones) {
        validate(zone);
        if (!zone.enter && !zone.leave && !zone.loiter && !zone.cross)
            fail(ErrorCode::usage, "the zone {} has no events", in_quotes(zone.name));
        if (std::ranges::any_of(zones_, [&](const auto& before) { return before->name == zone.name; }))
            fail(ErrorCode::usage, "two zones have the name {}; allowed: different names", in_quotes(zone.name));
        auto own = zone;
        // Values without effect are the usual ones, so that equal zones compare equal.
        if (!own.loiter) own.loiter_s = EventZone{}.loiter_s;
        if (!own.is_line()) own.directions = EventZone{}.directions;
        zones_.push_back(std::make_shared<const EventZone>(std::move(own)));
    }
}

ZoneSet ZoneSet::parse(std::string_view json, std::string_view name, ErrorCode code) {
    if (json.size() > max_zone_file_bytes)
        fail(code, "{}: {} bytes; the limit is {}", name, json.size(), max_zone_file_bytes);
    ZoneJson parsed;
    try {
        StrictParsing strict;
        parsed = ZoneJson::parse(json, [&](int depth, ZoneJson::parse_event_t event, ZoneJson& value) {
            return strict(depth, event, value);
        });
    } catch (const ZoneJson::parse_error& error) {
        const auto before = json.substr(0, std::min<std::size_t>(error.byte ? error.byte - 1 : 0, json.size()));
        const auto line_begin = before.rfind('\n') + 1;  // 0 if there is none
        fail(code, "{}: not valid JSON: error in line {}, column {}", name,
             1 + std::count(before.begin(), before.end(), '\n'), before.size() - line_begin + 1);
    } catch (const ZoneJson::exception&) {
        fail(code, "{}: contains a number that is too large", name);
    } catch (const Error& error) {
        fail(code, "{}: {}", name, error.what());
    }
    const ZonePlace root(parsed, std::string(name), ": ", code);
    root.require_keys({"zones", "size", "hysteresis"});
    const auto unit = unit_of(root);
    const auto list = root.at("zones");
    const auto count = list.length(0, max_event_zones, "zones");
    std::vector<EventZone> zones;
    zones.reserve(count);
    for (std::size_t index = 0; index < count; ++index) zones.push_back(read_zone(list.at(index), unit));
    auto hysteresis = usual_hysteresis;
    if (root.has("hysteresis"))
        hysteresis = root.at("hysteresis").number(0, 1, "0 to 1, a fraction of an object's longer side");
    ZoneSet set;
    list.attempt([&] { set = ZoneSet(zones, hysteresis); });
    return set;
}

ZoneSet ZoneSet::read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(max_zone_file_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.is_open() || file.bad() || (file.fail() && !file.eof()))
        fail(ErrorCode::usage, "cannot read the zones in {}; allowed: a JSON file", in_quotes(path));
    if (!file.eof()) fail(ErrorCode::usage, "{}: larger than {} bytes", path, max_zone_file_bytes);
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse(text, path);
}

std::string ZoneSet::to_json() const {
    auto zones = ZoneJson::array();
    for (const auto& zone : zones_) zones.push_back(json_of(*zone));
    return ascii_json_text(ZoneJson{{"zones", std::move(zones)}, {"hysteresis", hysteresis_}});
}

bool operator==(const ZoneSet& a, const ZoneSet& b) {
    return a.hysteresis_ == b.hysteresis_ &&
           std::ranges::equal(a.zones_, b.zones_, [](const auto& one, const auto& other) { return *one == *other; });
}

std::string_view to_string(ZoneEvent::Type type) {
    static constexpr std::string_view names[] = {"enter", "leave", "loiter", "cross"};
    return names[static_cast<std::size_t>(type)];
}

std::string event_members(const ZoneEvent& event) {
    using enum ZoneEvent::Type;
    const auto quoted = [](const std::string& text) { return ascii_json_text(ZoneJson(text)); };
    auto text = fmt::format(R"("event":"{}","zone":{},"track":{},"box":[{},{},{},{}])", to_string(event.type),
                            quoted(event.zone->name), event.track, std::llround(event.x), std::llround(event.y),
                            std::llround(event.width), std::llround(event.height));
    if (event.type == leave || event.type == loiter) text += fmt::format(R"(,"seconds":{:.2f})", event.seconds);
    if (event.type == leave) text += fmt::format(R"(,"gone":{})", event.gone);
    if (event.type == cross)
        text += fmt::format(R"(,"direction":{})",
                            quoted(event.zone->directions[static_cast<std::size_t>(event.direction)]));
    return text;
}

std::string events_json(std::span<const ZoneEvent> events) {
    std::string text = "[";
    for (const auto& event : events) text += fmt::format("{}{{{}}}", text.size() > 1 ? "," : "", event_members(event));
    return text + "]";
}

}  // namespace framewire

// Integer geometry.

namespace framewire::zone_geometry {
namespace {

// Returns true if p, which is on the line through a and b, is between them or equal to one of them.
bool between(const GridPoint& a, const GridPoint& b, const GridPoint& p) {
    return std::min(a.x, b.x) <= p.x && p.x <= std::max(a.x, b.x) && std::min(a.y, b.y) <= p.y &&
           p.y <= std::max(a.y, b.y);
}

constexpr int sign(std::int64_t value) { return (value > 0) - (value < 0); }

}  // namespace

// Counts the edges that a ray to the right crosses. Each edge contains its upper end but not its lower one, so that a
// ray through a corner counts both of its edges or one, as the polygon passes or not.
bool contains(std::span<const GridPoint> polygon, const GridPoint& p) {
    bool inside = false;
    for (std::size_t index = 0; index < polygon.size(); ++index) {
        const auto& a = polygon[index];
        const auto& b = polygon[index + 1 < polygon.size() ? index + 1 : 0];
        const auto area = area_of(a, b, p);
        if (area == 0 && between(a, b, p)) return true;
        if ((a.y <= p.y) != (b.y <= p.y) && (area > 0) == (a.y < b.y)) inside = !inside;
    }
    return inside;
}

bool meet(const GridPoint& a, const GridPoint& b, const GridPoint& c, const GridPoint& d) {
    const int c_side = sign(area_of(a, b, c)), d_side = sign(area_of(a, b, d));
    const int a_side = sign(area_of(c, d, a)), b_side = sign(area_of(c, d, b));
    if (c_side * d_side < 0 && a_side * b_side < 0) return true;
    return (c_side == 0 && between(a, b, c)) || (d_side == 0 && between(a, b, d)) ||
           (a_side == 0 && between(c, d, a)) || (b_side == 0 && between(c, d, b));
}

int crossing(const GridPoint& a, const GridPoint& b, const GridPoint& from, const GridPoint& to) {
    const bool was_right = area_of(a, b, from) >= 0, is_right = area_of(a, b, to) >= 0;
    if (was_right == is_right || !meet(a, b, from, to)) return -1;
    return is_right ? 0 : 1;
}

}  // namespace framewire::zone_geometry

// Events.

namespace framewire {
namespace {

using zone_geometry::GridPoint;
using zone_geometry::units_per_px;

constexpr double least_play_px = 2;
constexpr std::size_t usual_tracks = 256, usual_events = 256;  // capacities before the first frame

// Returns a coordinate in grid units, clamped to the picture. Anything that is not a number becomes 0.
std::int64_t to_grid(double px, int side) {
    if (!(px > 0)) return 0;
    if (px >= side) return std::int64_t{side} * units_per_px;
    return std::llround(px * units_per_px);
}

// Moves `settled` straight towards `anchor` until it is not further away than `play`.
void follow(GridPoint& settled, const GridPoint& anchor, double play) {
    const auto dx = anchor.x - settled.x, dy = anchor.y - settled.y;
    const auto squared = static_cast<double>(dx * dx + dy * dy);
    if (squared <= play * play) return;
    const auto part = 1 - play / std::sqrt(squared);
    settled.x += std::llround(static_cast<double>(dx) * part);
    settled.y += std::llround(static_cast<double>(dy) * part);
}

// Position of a track.
struct Position {
    std::int64_t id = 0;
    std::array<GridPoint, std::size(anchors)> settled{};  // by ZoneAnchor
    double x = 0, y = 0, width = 0, height = 0;           // last box
    double last_seen_s = 0;
};

// Relation of a track to a zone.
struct Stay {
    double since_s = 0;
    bool large = false;  // has had the zone's min_area
    bool inside = false, loitered = false;
};

}  // namespace

struct ZoneEvents::State {
    State(ZoneSet set, int frame_width, int frame_height) : width(frame_width), height(frame_height) {
        validate(Shape{1, height, width, 1}, "zones");
        for (auto* list : {&positions, &next_positions}) list->reserve(usual_tracks);
        for (auto* list : {&stays, &next_stays})
            list->reserve(usual_tracks * std::max<std::size_t>(set.zones().size(), 1));
        events.reserve(usual_events);
        take(std::move(set));
    }

    // Converts the zones to grid units.
    void take(ZoneSet set) {
        zones = std::move(set);
        inside.assign(zones.zones().size(), 0);
        points.clear();
        begins.assign(1, 0);
        for (const auto& zone : zones.zones()) {
            for (const auto& point : zone->points)
                points.push_back({to_grid(point.x * width, width), to_grid(point.y * height, height)});
            begins.push_back(points.size());
        }
    }
    std::span<const GridPoint> points_of(std::size_t zone) const {
        return std::span(points).subspan(begins[zone], begins[zone + 1] - begins[zone]);
    }
    Stay* stays_of(std::vector<Stay>& all, std::size_t track) const { return all.data() + track * inside.size(); }

    ZoneEvent& add(ZoneEvent::Type type, std::size_t zone, const Position& position) {
        events.push_back({.type = type,
                          .zone = zones.zones()[zone],
                          .track = position.id,
                          .x = position.x,
                          .y = position.y,
                          .width = position.width,
                          .height = position.height});
        return events.back();
    }
    // Reports that an object inside the zone is not tracked there any more.
    void add_gone(std::size_t zone, const Position& position, const Stay& stay) {
        if (!stay.inside) return;
        --inside[zone];
        if (!zones.zones()[zone]->leave) return;
        auto& event = add(ZoneEvent::Type::leave, zone, position);
        event.seconds = position.last_seen_s - stay.since_s;
        event.gone = true;
    }
    void add_ended(std::size_t track) {
        for (std::size_t zone = 0; zone < inside.size(); ++zone)
            add_gone(zone, positions[track], stays_of(stays, track)[zone]);
    }
    void see(const Track& track, double time_s, bool is_new, Position& position, Stay* own);
    void pass_polygon(std::size_t zone, double time_s, const Position& position, Stay& stay);

    int width, height;
    ZoneSet zones;
    std::vector<GridPoint> points;    // of all zones
    std::vector<std::size_t> begins;  // first point of each zone, and the end
    std::vector<int> inside;
    // by track, ascending ids; stays by track and zone
    std::vector<Position> positions, next_positions;
    std::vector<Stay> stays, next_stays;
    std::vector<ZoneEvent> events;
    bool pending = false;  // `events` holds those of set_zones()
};

// Moves a track to its box in the frame and adds the events.
void ZoneEvents::State::see(const Track& track, double time_s, bool is_new, Position& position, Stay* own) {
    const auto middle_x = to_grid(track.x + track.width / 2, width);
    const std::array<GridPoint, std::size(anchors)> now{{{middle_x, to_grid(track.y + track.height, height)},
                                                         {middle_x, to_grid(track.y + track.height / 2, height)},
                                                         {middle_x, to_grid(track.y, height)}}};
    const auto hysteresis = zones.hysteresis();
    const auto play =
        hysteresis == 0 ? 0 : units_per_px * std::max(least_play_px, hysteresis * std::max(track.width, track.height));
    const auto before = is_new ? now : position.settled;
    position.settled = before;
    for (std::size_t anchor = 0; anchor < now.size(); ++anchor) follow(position.settled[anchor], now[anchor], play);
    position.id = track.id;
    position.x = track.x;
    position.y = track.y;
    position.width = track.width;
    position.height = track.height;
    position.last_seen_s = time_s;
    const auto area = track.width * track.height / (static_cast<double>(width) * height);
    for (std::size_t zone = 0; zone < inside.size(); ++zone) {
        const auto& about = *zones.zones()[zone];
        own[zone].large = own[zone].large || area >= about.min_area;
        if (!own[zone].large) continue;
        if (!about.is_line()) {
            pass_polygon(zone, time_s, position, own[zone]);
            continue;
        }
        const auto at = static_cast<std::size_t>(about.anchor);
        const auto ends = points_of(zone);
        const auto direction = zone_geometry::crossing(ends[0], ends[1], before[at], position.settled[at]);
        if (direction >= 0) add(ZoneEvent::Type::cross, zone, position).direction = direction;
    }
}

void ZoneEvents::State::pass_polygon(std::size_t zone, double time_s, const Position& position, Stay& stay) {
    const auto& about = *zones.zones()[zone];
    const bool is_inside =
        zone_geometry::contains(points_of(zone), position.settled[static_cast<std::size_t>(about.anchor)]);
    if (is_inside && !stay.inside) {
        stay = {.since_s = time_s, .large = true, .inside = true};
        ++inside[zone];
        if (about.enter) add(ZoneEvent::Type::enter, zone, position);
    } else if (is_inside && about.loiter && !stay.loitered && time_s - stay.since_s >= about.loiter_s) {
        stay.loitered = true;
        add(ZoneEvent::Type::loiter, zone, position).seconds = time_s - stay.since_s;
    } else if (!is_inside && stay.inside) {
        stay.inside = false;
        --inside[zone];
        if (about.leave) add(ZoneEvent::Type::leave, zone, position).seconds = time_s - stay.since_s;
    }
}

ZoneEvents::ZoneEvents(ZoneSet zones, int width, int height)
    : state_(std::make_unique<State>(std::move(zones), width, height)) {}
ZoneEvents::~ZoneEvents() = default;
ZoneEvents::ZoneEvents(ZoneEvents&&) noexcept = default;
ZoneEvents& ZoneEvents::operator=(ZoneEvents&&) noexcept = default;

// Merges the frame's tracks with the known ones; both ascend by id.
std::span<const ZoneEvent> ZoneEvents::update(std::span<const Track> tracks, double time_s) {
    auto& state = *state_;
    if (!std::exchange(state.pending, false)) state.events.clear();
    const auto zones = state.inside.size();
    std::size_t known = 0;
    for (const auto& track : tracks) {
        for (; known < state.positions.size() && state.positions[known].id < track.id; ++known) state.add_ended(known);
        if (known < state.positions.size() && state.positions[known].id == track.id) ++known;
    }
    for (; known < state.positions.size(); ++known) state.add_ended(known);

    state.next_positions.clear();
    state.next_stays.clear();
    known = 0;
    for (const auto& track : tracks) {
        while (known < state.positions.size() && state.positions[known].id < track.id) ++known;
        const bool is_new = known == state.positions.size() || state.positions[known].id != track.id;
        if (is_new && track.object < 0) continue;  // nothing is known about it yet
        state.next_positions.push_back(is_new ? Position{} : state.positions[known]);
        const auto* const own = state.stays_of(state.stays, known);
        if (is_new)
            state.next_stays.resize(state.next_stays.size() + zones);
        else
            state.next_stays.insert(state.next_stays.end(), own, own + zones);
        if (track.object < 0) continue;
        const auto index = state.next_positions.size() - 1;
        state.see(track, time_s, is_new, state.next_positions[index], state.stays_of(state.next_stays, index));
    }
    std::swap(state.positions, state.next_positions);
    std::swap(state.stays, state.next_stays);
    return state.events;
}

void ZoneEvents::set_zones(ZoneSet zones) {
    auto& state = *state_;
    if (!std::exchange(state.pending, true)) state.events.clear();
    const auto before = state.zones.zones();
    std::vector<std::size_t> now_at(before.size(), max_event_zones);
    for (std::size_t old = 0; old < before.size(); ++old) {
        const auto found = std::ranges::find_if(zones.zones(), [&](const auto& zone) { return *zone == *before[old]; });
        if (found != zones.zones().end()) now_at[old] = static_cast<std::size_t>(found - zones.zones().begin());
    }
    const auto old_stays = std::exchange(state.stays, {});
    const auto was_inside = state.inside;
    for (std::size_t track = 0; track < state.positions.size(); ++track)
        for (std::size_t old = 0; old < before.size(); ++old)
            if (now_at[old] == max_event_zones)
                state.add_gone(old, state.positions[track], old_stays[track * before.size() + old]);
    state.take(std::move(zones));
    state.stays.assign(state.positions.size() * state.inside.size(), {});
    for (std::size_t old = 0; old < before.size(); ++old) {
        if (now_at[old] == max_event_zones) continue;
        state.inside[now_at[old]] = was_inside[old];
        for (std::size_t track = 0; track < state.positions.size(); ++track)
            state.stays_of(state.stays, track)[now_at[old]] = old_stays[track * before.size() + old];
    }
}

std::span<const ZoneEvent> ZoneEvents::end() { return update({}, 0); }

const ZoneSet& ZoneEvents::zones() const { return state_->zones; }
std::span<const int> ZoneEvents::inside() const { return state_->inside; }

}  // namespace framewire
