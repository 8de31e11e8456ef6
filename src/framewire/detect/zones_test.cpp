#include "framewire/detect/zones.hpp"
#include "framewire/core/error.hpp"
#include "kit/allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numbers>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using zone_geometry::GridPoint;
using enum ZoneEvent::Type;

// Returns the message of the error that parsing throws, or "" if it throws none.
std::string error_of(std::string_view json) {
    try {
        ZoneSet::parse(json, "z.json");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// A set with one zone, whose members are `zone`.
std::string one_zone(std::string_view zone) { return R"({"zones":[{)" + std::string(zone) + "}]}"; }

constexpr std::string_view yard = R"({"zones":[
  {"name":"yard","polygon":[[0.25,0.25],[0.75,0.25],[0.75,0.75],[0.25,0.75]],"loiter":2},
  {"name":"gate","line":[[0.5,1],[0.5,0]],"directions":["in","out"]}],"hysteresis":0})";

TEST(ZoneSet, ReadsEveryMember) {
    const auto set = ZoneSet::parse(R"({"hysteresis":0.25,"zones":[
        {"name":"a","polygon":[[0,0],[1,0],[0.5,1]],"events":["loiter","enter"],"loiter":1.5,"min_area":0.1,
         "anchor":"top"},
        {"name":"b","line":[[0,0.5],[1,0.5]],"events":["cross"],"directions":["north","south"],"anchor":"centre"},
        {"name":"c","polygon":[[0,0],[1,0],[0.5,1]]},{"name":"d","polygon":[[0,0],[1,0],[0.5,1]],"loiter":3}]})",
                                    "z.json");
    EXPECT_EQ(set.hysteresis(), 0.25);
    const std::vector<ZonePoint> triangle{{0, 0}, {1, 0}, {0.5, 1}};
    ASSERT_EQ(set.zones().size(), 4);
    EXPECT_EQ(*set.zones()[0], (EventZone{.name = "a",
                                          .points = triangle,
                                          .enter = true,
                                          .loiter = true,
                                          .loiter_s = 1.5,
                                          .min_area = 0.1,
                                          .anchor = ZoneAnchor::top}));
    EXPECT_EQ(*set.zones()[1], (EventZone{.name = "b",
                                          .points = {{0, 0.5}, {1, 0.5}},
                                          .cross = true,
                                          .directions = {"north", "south"},
                                          .anchor = ZoneAnchor::centre}));
    EXPECT_EQ(*set.zones()[2], (EventZone{.name = "c", .points = triangle, .enter = true, .leave = true}));
    EXPECT_EQ(
        *set.zones()[3],
        (EventZone{.name = "d", .points = triangle, .enter = true, .leave = true, .loiter = true, .loiter_s = 3}));
}

TEST(ZoneSet, PixelsAreFractionsOfTheirSize) {
    const auto pixels = ZoneSet::parse(
        R"({"size":[640,480],"zones":[{"name":"a","polygon":[[160,120],[640,0],[0,480]],"min_area":3072}]})", "z");
    const auto fractions =
        ZoneSet::parse(R"({"zones":[{"name":"a","polygon":[[0.25,0.25],[1,0],[0,1]],"min_area":0.01}]})", "z");
    EXPECT_EQ(pixels, fractions);
}

TEST(ZoneSet, WritesWhatItReads) {
    for (const auto* json :
         {R"({"zones":[]})",
          R"({"zones":[{"name":"Einfahrt \"Süd\"","polygon":[[0.1,0.123456789],[1,0],[0.3,1]],"loiter":7}]})",
          R"({"size":[1920,1080],"hysteresis":0.02,"zones":[{"name":"l","line":[[7,11],[1901,1000]],"anchor":"top",
              "directions":["ä","b"],"min_area":1234}]})"}) {
        const auto set = ZoneSet::parse(json, "z");
        EXPECT_EQ(ZoneSet::parse(set.to_json(), "z"), set) << set.to_json();
    }
    EXPECT_NE(ZoneSet::parse(yard, "z"), ZoneSet());
}

TEST(ZoneSet, ErrorsSayWhatIsWrongWhereAndWhatIsAllowed) {
    const std::string triangle = R"("polygon":[[0,0],[1,0],[0,1]])", line = R"("line":[[0,0],[1,1]])";
    const std::pair<std::string, std::string> errors[] = {
        {"{\n \"zones\":[}", "z.json: not valid JSON: error in line 2, column 11"},
        {"", "z.json: not valid JSON: error in line 1, column 1"},
        {"[]", "z.json: is of type array; allowed: an object"},
        {"{}", "z.json: 'zones' is missing"},
        {R"({"zone":[]})", "z.json: unknown key 'zone'; allowed: zones, size, hysteresis; did you mean 'zones'?"},
        {R"({"zones":[],"zones":[]})", "z.json: 'zones' is given twice"},
        {R"({"zones":[[[[[[1]]]]]]})", "z.json: nested deeper than 5 levels"},
        {R"({"zones":{}})", "z.json: zones: is of type object; allowed: a list of 0 to 64 zones"},
        {R"({"zones":[],"hysteresis":2})",
         "z.json: hysteresis: is 2; allowed: 0 to 1, a fraction of an object's longer side"},
        {R"({"zones":[],"size":[640]})", "z.json: size: has 1 sides; allowed: 2"},
        {R"({"zones":[],"size":[640,0.5]})",
         "z.json: size[1]: is 0.5; allowed: a whole number of pixels from 1 to 16384"},
        {R"({"zones":[],"size":[640,4.5]})",
         "z.json: size[1]: is 4.5; allowed: a whole number of pixels from 1 to 16384"},
        {one_zone(triangle), "z.json: zones[0]: 'name' is missing"},
        {one_zone(R"("name":"",)" + triangle),
         "z.json: zones[0]: the name '' is not valid; allowed: 1 to 64 bytes of printable UTF-8"},
        {one_zone(R"("name":"a\n",)" + triangle),
         "z.json: zones[0]: the name 'a\\x0a' is not valid; allowed: 1 to 64 bytes of printable UTF-8"},
        {one_zone(R"("name":7,)" + triangle), "z.json: zones[0].name: is 7; allowed: a text"},
        {one_zone(R"("name":"a")"), "z.json: zones[0]: needs either polygon or line"},
        {one_zone(R"("name":"a",)" + triangle + "," + line), "z.json: zones[0]: needs either polygon or line"},
        {one_zone(R"("name":"a","polygons":1,)" + triangle),
         "z.json: zones[0]: unknown key 'polygons'; allowed: name, polygon, line, events, loiter, directions, "
         "min_area, anchor; did you mean 'polygon'?"},
        {one_zone(R"("name":"a","polygon":[[0,0],[1,1]])"), "z.json: zones[0].polygon: has 2 points; allowed: 3 to 64"},
        {one_zone(R"("name":"a","line":[[0,0],[1,1],[1,0]])"), "z.json: zones[0].line: has 3 points; allowed: 2"},
        {one_zone(R"("name":"a","line":[[0,0],[1,1,1]])"), "z.json: zones[0].line[1]: has 3 coordinates; allowed: 2"},
        {one_zone(R"("name":"a","line":[[0,0],[320,1]])"),
         "z.json: zones[0].line[1][0]: is 320; allowed: 0 to 1, a fraction of the picture's width; for pixels add "
         "\"size\":[WIDTH,HEIGHT]"},
        {R"({"size":[64,48],"zones":[{"name":"a","line":[[0,0],[32,49]]}]})",
         "z.json: zones[0].line[1][1]: is 49; allowed: 0 to 48, the picture's height in pixels"},
        {one_zone(R"("name":"a","line":[[0,0],["x",1]])"),
         "z.json: zones[0].line[1][0]: is 'x'; allowed: 0 to 1, a fraction of the picture's width; for pixels add "
         "\"size\":[WIDTH,HEIGHT]"},
        {one_zone(R"("name":"a","line":[[0,0],[0,0]])"), "z.json: zones[0]: both ends of the line are the same point"},
        {one_zone(R"("name":"a","polygon":[[0,0],[0.5,0.5],[1,1]])"),
         "z.json: zones[0]: all corners of the polygon are on one line, so it has no area"},
        {one_zone(R"("name":"a","events":["entre"],)" + triangle),
         "z.json: zones[0].events[0]: 'entre' is unknown; allowed: enter, leave, loiter; did you mean 'enter'?"},
        {one_zone(R"("name":"a","events":["enter","enter"],)" + triangle),
         "z.json: zones[0].events[1]: is given twice"},
        {one_zone(R"("name":"a","events":[],)" + triangle), "z.json: zones[0].events: has 0 events; allowed: 1 to 3"},
        {one_zone(R"("name":"a","events":["enter"],)" + line),
         "z.json: zones[0].events[0]: 'enter' is unknown; allowed: cross"},
        {one_zone(R"("name":"a","loiter":0,)" + triangle),
         "z.json: zones[0].loiter: is 0; allowed: more than 0, up to 86400 seconds"},
        {one_zone(R"("name":"a","loiter":9,"events":["enter"],)" + triangle),
         "z.json: zones[0].loiter: has no effect, because events does not list loiter"},
        {one_zone(R"("name":"a","loiter":9,)" + line),
         "z.json: zones[0].loiter: a line has no loiter time; allowed: only polygons"},
        {one_zone(R"("name":"a","directions":["x","y"],)" + triangle),
         "z.json: zones[0].directions: a polygon has no directions; allowed: only lines"},
        {one_zone(R"("name":"a","directions":["x","x"],)" + line),
         "z.json: zones[0]: both directions are 'x'; allowed: two different names"},
        {one_zone(R"("name":"a","min_area":5,)" + line),
         "z.json: zones[0].min_area: is 5; allowed: 0 to 1, a fraction of the picture's area"},
        {one_zone(R"("name":"a","anchor":"botom",)" + line),
         "z.json: zones[0].anchor: 'botom' is unknown; allowed: bottom, centre, top; did you mean 'bottom'?"},
        {R"({"zones":[{"name":"a",)" + line + R"(},{"name":"a",)" + line + "}]}",
         "z.json: zones: two zones have the name 'a'; allowed: different names"},
        {std::string(max_zone_file_bytes + 1, ' '), "z.json: 1048577 bytes; the limit is 1048576"},
    };
    for (const auto& [json, message] : errors) EXPECT_EQ(error_of(json), message) << json.substr(0, 200);
    EXPECT_EQ(error_of(R"({"zones":[],"size":[1e999,1]})"), "z.json: contains a number that is too large");
}

TEST(ZoneSet, LimitsAreExact) {
    const auto zones = [](std::size_t count) {
        std::string json = R"({"zones":[)";
        for (std::size_t index = 0; index < count; ++index)
            json += (index ? "," : "") + (R"({"name":"z)" + std::to_string(index)) + R"(","line":[[0,0],[1,1]]})";
        return json + "]}";
    };
    EXPECT_EQ(error_of(zones(max_event_zones)), "");
    EXPECT_EQ(error_of(zones(max_event_zones + 1)), "z.json: zones: has 65 zones; allowed: 0 to 64");
    const auto corners = [](std::size_t count) {
        std::string json = R"("name":"a","polygon":[[0,1])";
        for (std::size_t index = 1; index < count; ++index) json += ",[1," + std::to_string(index % 2) + "]";
        return one_zone(json + "]");
    };
    EXPECT_EQ(error_of(corners(max_zone_corners)), "");
    EXPECT_EQ(error_of(corners(max_zone_corners + 1)), "z.json: zones[0].polygon: has 65 points; allowed: 3 to 64");
    const auto name = [](std::size_t length) {
        return one_zone(R"("name":")" + std::string(length, 'n') + R"(","line":[[0,0],[1,1]])");
    };
    EXPECT_EQ(error_of(name(max_zone_name_bytes)), "");
    EXPECT_NE(error_of(name(max_zone_name_bytes + 1)), "");
}

TEST(ZoneSet, ReadsFiles) {
    const auto path = ::testing::TempDir() + "zones_test.json";
    std::ofstream(path) << yard;
    EXPECT_EQ(ZoneSet::read(path), ZoneSet::parse(yard, "z"));
    std::ofstream(path) << "{";
    EXPECT_THROW(ZoneSet::read(path), Error);
    EXPECT_THROW(ZoneSet::read(path + ".missing"), Error);
    EXPECT_THROW(ZoneSet::read(::testing::TempDir()), Error);
}

// The polygons of the constructor's caller are checked, too.
TEST(ZoneSet, RefusesInvalidZones) {
    const EventZone good{.name = "a", .points = {{0, 0}, {1, 0}, {0, 1}}, .enter = true};
    EXPECT_NO_THROW(ZoneSet(std::span(&good, 1)));
    auto bad = good;
    bad.enter = false;
    EXPECT_THROW(ZoneSet(std::span(&bad, 1)), Error);
    bad = good;
    bad.cross = true;
    EXPECT_THROW(ZoneSet(std::span(&bad, 1)), Error);
    bad = good;
    bad.points[0].x = std::nan("");
    EXPECT_THROW(ZoneSet(std::span(&bad, 1)), Error);
    EXPECT_THROW(ZoneSet(std::span(&good, 1), -0.1), Error);
}

// --- Geometry, against a reference in exact rational arithmetic ---

using Wide = __int128;

// A rational number with a positive denominator.
struct Fraction {
    Wide over, under;
    Fraction(Wide numerator, Wide denominator)
        : over(denominator < 0 ? -numerator : numerator), under(denominator < 0 ? -denominator : denominator) {}
    friend bool operator<(const Fraction& a, const Fraction& b) { return a.over * b.under < b.over * a.under; }
};

// Returns true if p is a point a + t (b - a) with t from 0 to 1.
bool on_segment(const GridPoint& a, const GridPoint& b, const GridPoint& p) {
    if (a == b) return p == a;
    const bool by_x = a.x != b.x;
    const Fraction t = by_x ? Fraction(p.x - a.x, b.x - a.x) : Fraction(p.y - a.y, b.y - a.y);
    if (t < Fraction(0, 1) || Fraction(1, 1) < t) return false;
    // a + t (b - a) == p in the other coordinate
    return by_x ? Wide{a.y} * t.under + t.over * (b.y - a.y) == Wide{p.y} * t.under
                : Wide{a.x} * t.under + t.over * (b.x - a.x) == Wide{p.x} * t.under;
}

// Even-odd rule by a ray straight up, slightly to the right of the point so that it meets no corner: it crosses the
// edges whose ends are on both sides of it, at heights that are compared as fractions.
bool contains_reference(std::span<const GridPoint> polygon, const GridPoint& p) {
    bool inside = false;
    for (std::size_t index = 0; index < polygon.size(); ++index) {
        const auto& a = polygon[index];
        const auto& b = polygon[(index + 1) % polygon.size()];
        if (on_segment(a, b, p)) return true;
        // The ray is at x + 1/2, halfway between grid columns; coordinates are doubled. p is not on the edge, so the
        // edge at x decides, except if it begins there.
        const Wide x = 2 * Wide{p.x} + 1, ax = 2 * Wide{a.x}, bx = 2 * Wide{b.x};
        if ((ax < x) == (bx < x)) continue;
        const Fraction y(Wide{a.y} * (bx - ax) + Wide{b.y - a.y} * (x - ax), bx - ax);
        // The path from p to the ray's start, half a column to the right, must not cross an edge: see the caller.
        if (y < Fraction(p.y, 1)) inside = !inside;
    }
    return inside;
}

// Multiplies coordinates so that half a column is less than any distance between a point and an edge that it is not on.
// Coordinates up to `side` differ from an edge by at least 1 / side along an axis.
GridPoint scaled(const GridPoint& p, std::int64_t by) { return {p.x * by, p.y * by}; }

class ZoneGeometry : public ::testing::TestWithParam<std::int64_t> {
protected:
    std::int64_t random_to(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random_); }
    GridPoint point() { return {random_to(GetParam()), random_to(GetParam())}; }
    std::mt19937_64 random_{7};
};

TEST_P(ZoneGeometry, ContainsIsTheEvenOddRule) {
    const auto by = 2 * GetParam() * GetParam();
    std::int64_t inside = 0, outside = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::vector<GridPoint> polygon(static_cast<std::size_t>(3 + random_to(9))), large;
        for (auto& corner : polygon) corner = point();
        for (const auto& corner : polygon) large.push_back(scaled(corner, by));
        for (int probe = 0; probe < 8; ++probe) {
            const auto p = point();
            const bool expected = contains_reference(large, scaled(p, by));
            ASSERT_EQ(zone_geometry::contains(polygon, p), expected) << round << " " << p.x << "," << p.y;
            ++(expected ? inside : outside);
        }
    }
    EXPECT_GT(inside, 10'000);
    EXPECT_GT(outside, 10'000);
}

// Solves a + t (b - a) = c + u (d - c) with fractions.
bool meet_reference(const GridPoint& a, const GridPoint& b, const GridPoint& c, const GridPoint& d) {
    const Wide rx = b.x - a.x, ry = b.y - a.y, sx = d.x - c.x, sy = d.y - c.y, qx = c.x - a.x, qy = c.y - a.y;
    const auto determinant = rx * sy - ry * sx;
    if (determinant == 0)  // parallel or a point: they meet if an end of one is on the other
        return on_segment(a, b, c) || on_segment(a, b, d) || on_segment(c, d, a) || on_segment(c, d, b);
    const Fraction t(qx * sy - qy * sx, determinant), u(qx * ry - qy * rx, determinant);
    const auto allowed = [](const Fraction& at) { return !(at < Fraction(0, 1)) && !(Fraction(1, 1) < at); };
    return allowed(t) && allowed(u);
}

TEST_P(ZoneGeometry, SegmentsMeetWhereTheirEquationsHaveASolution) {
    std::int64_t met = 0;
    for (int round = 0; round < 200'000; ++round) {
        const auto a = point(), b = point(), c = point(), d = point();
        const bool expected = meet_reference(a, b, c, d);
        ASSERT_EQ(zone_geometry::meet(a, b, c, d), expected);
        ASSERT_EQ(zone_geometry::meet(d, c, a, b), expected);
        met += expected;
    }
    EXPECT_GT(met, 10'000);
}

// Whoever returns to the start of a path has crossed the whole line of a segment as often in both directions. If the
// segment is longer than the picture, that holds for its crossings, too.
TEST_P(ZoneGeometry, ClosedPathsCrossBothWaysAlike) {
    const auto side = GetParam();
    std::int64_t crossings = 0;
    for (int round = 0; round < 5'000; ++round) {
        auto a = point(), b = point();
        if (a == b) continue;
        const auto begin = scaled(a, 1 + side), step = GridPoint{b.x - a.x, b.y - a.y};
        // In coordinates that are side + 1 times as large, the line through a and b leaves the picture at both ends.
        const GridPoint from{begin.x - step.x * 2 * (side + 1) * side, begin.y - step.y * 2 * (side + 1) * side};
        const GridPoint to{begin.x + step.x * 2 * (side + 1) * side, begin.y + step.y * 2 * (side + 1) * side};
        int counts[2] = {0, 0};
        const auto first = scaled(point(), 1 + side);
        auto at = first;
        for (int move = 0; move < 12; ++move) {
            const auto next = move == 11 ? first : scaled(point(), 1 + side);
            const int direction = zone_geometry::crossing(from, to, at, next);
            if (direction >= 0) ++counts[direction];
            at = next;
        }
        ASSERT_EQ(counts[0], counts[1]);
        crossings += counts[0];
    }
    EXPECT_GT(crossings, 1'000);
}

TEST_P(ZoneGeometry, TheWayBackCrossesInTheOtherDirection) {
    std::int64_t crossed = 0;
    for (int round = 0; round < 100'000; ++round) {
        const auto a = point(), b = point(), from = point(), to = point();
        const int there = zone_geometry::crossing(a, b, from, to), back = zone_geometry::crossing(a, b, to, from);
        ASSERT_EQ(back, there < 0 ? -1 : 1 - there);
        const bool right_before = zone_geometry::area_of(a, b, from) >= 0;
        const bool right_after = zone_geometry::area_of(a, b, to) >= 0;
        ASSERT_EQ(there >= 0, right_before != right_after && meet_reference(a, b, from, to));
        if (there >= 0) {
            ASSERT_EQ(there, right_after ? 0 : 1);
        }
        crossed += there >= 0;
    }
    EXPECT_GT(crossed, 5'000);
}

// Small sides make many points that coincide or are in line; the last one is the largest for which the test's own
// coordinates stay below 2^29.
INSTANTIATE_TEST_SUITE_P(, ZoneGeometry, ::testing::Values(3, 6, 40, 300), ::testing::PrintToStringParamName());

TEST(ZoneGeometryOfPictures, FullSizeCoordinatesAreExact) {
    const auto most = std::int64_t{16384} * zone_geometry::units_per_px;
    const GridPoint triangle[] = {{0, 0}, {most, most - 1}, {most, most}};
    EXPECT_TRUE(zone_geometry::contains(triangle, {most / 2, most / 2}));  // on an edge
    EXPECT_FALSE(zone_geometry::contains(triangle, {most / 2, most / 2 + 1}));
    EXPECT_FALSE(zone_geometry::contains(triangle, {most / 2, most / 2 - 1}));
}

// The five-pointed star crosses itself: by the even-odd rule its middle is outside.
TEST(ZoneGeometryOfPictures, TheMiddleOfAStarIsOutside) {
    std::vector<GridPoint> star;
    for (int corner = 0; corner < 5; ++corner) {
        const auto angle = corner * 4 * std::numbers::pi / 5;
        star.push_back({std::llround(1000 + 900 * std::sin(angle)), std::llround(1000 - 900 * std::cos(angle))});
    }
    EXPECT_FALSE(zone_geometry::contains(star, {1000, 1000}));
    EXPECT_TRUE(zone_geometry::contains(star, {1000, 300}));
    EXPECT_FALSE(zone_geometry::contains(star, {1700, 1500}));
}

// --- Events ---

constexpr int side = 200;

// A track whose anchor (bottom centre) is at this position, with a box of 10x20 pixels.
Track at(std::int64_t id, double x, double y) {
    return {.id = id, .x = x - 5, .y = y - 20, .width = 10, .height = 20, .object = 0};
}
Track unseen(std::int64_t id, double x, double y) {
    auto track = at(id, x, y);
    track.object = -1;
    track.unseen_s = 0.1;
    return track;
}

std::string text_of(std::span<const ZoneEvent> events) {
    std::string text;
    for (const auto& event : events) {
        text += (text.empty() ? "" : " ") + std::string(to_string(event.type)) + ":" + event.zone->name + ":" +
                std::to_string(event.track);
        if (event.type == cross) text += ":" + event.zone->directions[static_cast<std::size_t>(event.direction)];
        if (event.type == leave || event.type == loiter) text += ":" + std::to_string(std::lround(event.seconds * 10));
        if (event.gone) text += ":gone";
    }
    return text;
}

// Feeds frames and returns the events as text.
struct Watch {
    explicit Watch(std::string_view json = yard) : events(ZoneSet::parse(json, "z"), side, side) {}
    std::string operator()(double time_s, std::vector<Track> tracks) { return text_of(events.update(tracks, time_s)); }
    ZoneEvents events;
};

TEST(ZoneEvents, EnterLoiterCrossLeave) {
    Watch watch;
    EXPECT_EQ(watch(0.0, {at(1, 10, 100)}), "");
    EXPECT_EQ(watch(1.0, {at(1, 60, 100)}), "enter:yard:1");
    EXPECT_EQ(watch(2.0, {at(1, 60, 100)}), "");
    EXPECT_EQ(watch(3.0, {at(1, 70, 100)}), "loiter:yard:1:20");
    EXPECT_EQ(watch(3.5, {at(1, 130, 100)}), "cross:gate:1:in");
    EXPECT_EQ(watch(6.0, {at(1, 90, 100)}), "cross:gate:1:out");
    EXPECT_EQ(watch(7.0, {at(1, 10, 100)}), "leave:yard:1:60");
    EXPECT_EQ(watch(8.0, {at(1, 190, 100)}), "cross:gate:1:in");
    EXPECT_EQ(watch(9.0, {}), "");
}

TEST(ZoneEvents, ObjectsThatDisappearInsideLeave) {
    Watch watch;
    EXPECT_EQ(watch(0.0, {at(3, 60, 100), at(5, 70, 100)}), "enter:yard:3 enter:yard:5");
    EXPECT_EQ(watch(1.0, {unseen(3, 60, 100), at(5, 71, 100)}), "");
    EXPECT_EQ(watch(2.0, {at(5, 71, 100)}), "leave:yard:3:0:gone loiter:yard:5:20");
    EXPECT_EQ(watch.events.inside()[0], 1);
    EXPECT_EQ(text_of(watch.events.end()), "leave:yard:5:20:gone");
    EXPECT_EQ(watch.events.inside()[0], 0);
}

// A prediction that drifts out of the zone and over the line causes nothing; the box after it is one move.
TEST(ZoneEvents, OcclusionDoesNotDoubleEvents) {
    Watch watch;
    EXPECT_EQ(watch(0.0, {at(1, 60, 100)}), "enter:yard:1");
    EXPECT_EQ(watch(0.1, {unseen(1, 110, 100)}), "");
    EXPECT_EQ(watch(0.2, {unseen(1, 190, 100)}), "");
    EXPECT_EQ(watch(0.3, {at(1, 120, 100)}), "cross:gate:1:in");
    EXPECT_EQ(watch(0.4, {at(1, 125, 100)}), "");
}

TEST(ZoneEvents, ATrackIsNewAtItsFirstBox) {
    Watch watch;
    EXPECT_EQ(watch(0.0, {unseen(1, 60, 100)}), "");
    EXPECT_EQ(watch(0.1, {at(1, 60, 100)}), "enter:yard:1");
}

TEST(ZoneEvents, FilesOfAnySizeAndAnchor) {
    Watch top(R"({"hysteresis":0,"zones":[{"name":"a","line":[[0,0.5],[1,0.5]],"anchor":"top"}]})");
    Watch centre(R"({"hysteresis":0,"zones":[{"name":"a","line":[[0,0.5],[1,0.5]],"anchor":"centre"}]})");
    Watch bottom(R"({"hysteresis":0,"size":[20,10],"zones":[{"name":"a","line":[[0,5],[20,5]]}]})");
    std::string moves[3];
    for (int y = 90; y <= 130; ++y) {
        Watch* watches[] = {&bottom, &centre, &top};
        for (int index = 0; index < 3; ++index)
            if (!(*watches[index])(y, {at(1, 50, y)}).empty()) moves[index] += std::to_string(y);
    }
    EXPECT_EQ(moves[0], "100");
    EXPECT_EQ(moves[1], "110");
    EXPECT_EQ(moves[2], "120");
}

TEST(ZoneEvents, SmallObjectsDoNotCountUntilTheyWereLarge) {
    Watch watch(R"({"hysteresis":0,"size":[200,200],"zones":[
        {"name":"a","polygon":[[0,0],[100,0],[100,200],[0,200]],"min_area":400}]})");
    auto small = at(1, 50, 100), large = at(1, 50, 100);
    large.width = 20;
    EXPECT_EQ(watch(0, {small}), "");
    EXPECT_EQ(watch(1, {large}), "enter:a:1");
    EXPECT_EQ(watch(2, {small}), "");
    EXPECT_EQ(watch(3, {at(1, 150, 100)}), "leave:a:1:20");
}

TEST(ZoneEvents, OnlyRequestedEventsAreReported) {
    Watch watch(R"({"hysteresis":0,"zones":[
        {"name":"a","polygon":[[0,0],[0.5,0],[0.5,1],[0,1]],"events":["leave"]}]})");
    EXPECT_EQ(watch(0, {at(1, 50, 100)}), "");
    EXPECT_EQ(watch.events.inside()[0], 1);
    EXPECT_EQ(watch(1, {at(1, 150, 100)}), "leave:a:1:10");
}

TEST(ZoneEvents, ChangedZonesEndAndOthersContinue) {
    Watch watch;
    EXPECT_EQ(watch(0.0, {at(1, 60, 100)}), "enter:yard:1");
    auto json = std::string(yard);
    json.replace(json.find("gate"), 4, "door");
    watch.events.set_zones(ZoneSet::parse(json, "z"));
    EXPECT_EQ(watch(1.0, {at(1, 61, 100)}), "");
    EXPECT_EQ(watch(2.0, {at(1, 150, 100)}), "loiter:yard:1:20 cross:door:1:in");
    watch.events.set_zones(ZoneSet::parse(R"({"hysteresis":0,"zones":[
        {"name":"new","polygon":[[0.5,0],[1,0],[1,1],[0.5,1]]}]})",
                                          "z"));
    EXPECT_EQ(watch(3.0, {at(1, 150, 100)}), "leave:yard:1:20:gone enter:new:1");
    watch.events.set_zones({});
    watch.events.set_zones({});
    EXPECT_EQ(watch(4.0, {}), "leave:new:1:0:gone");
    EXPECT_EQ(watch(5.0, {at(2, 60, 100)}), "");
}

TEST(ZoneEvents, Json) {
    Watch watch(R"({"hysteresis":0,"zones":[{"name":"a \"b\"","polygon":[[0,0],[0.5,0],[0.5,1],[0,1]],"loiter":1},
        {"name":"l","line":[[0.5,0],[0.5,1]]}]})");
    const auto json = [&](double time_s, double x) {
        const Track track = at(7, x, 100);
        return events_json(watch.events.update({&track, 1}, time_s));
    };
    EXPECT_EQ(json(0, 50), R"([{"event":"enter","zone":"a \"b\"","track":7,"box":[45,80,10,20]}])");
    EXPECT_EQ(json(0.5, 50), "[]");
    EXPECT_EQ(json(1, 50.4), R"([{"event":"loiter","zone":"a \"b\"","track":7,"box":[45,80,10,20],"seconds":1.00}])");
    EXPECT_EQ(json(2, 150), R"([{"event":"leave","zone":"a \"b\"","track":7,"box":[145,80,10,20],"seconds":2.00,)"
                            R"("gone":false},{"event":"cross","zone":"l","track":7,"box":[145,80,10,20],)"
                            R"("direction":"left"}])");
}

TEST(ZoneEvents, BoxesBeyondThePictureCount) {
    Watch watch(R"({"hysteresis":0,"zones":[{"name":"low","polygon":[[0,0.9],[1,0.9],[1,1],[0,1]]}]})");
    EXPECT_EQ(watch(0, {at(1, 50, 230)}), "enter:low:1");
    EXPECT_EQ(watch(1, {at(1, std::nan(""), std::nan(""))}), "leave:low:1:10");
}

// An anchor that jitters by less than the hysteresis, around any position near an edge or a line, causes at most one
// event per edge; without hysteresis it causes hundreds.
TEST(ZoneEvents, JitterMakesNoEventStorm) {
    const auto count = [](const char* hysteresis, double amplitude) {
        std::mt19937 random(3);
        std::uniform_real_distribution<double> jitter(-amplitude, amplitude), place(98, 102);
        std::size_t worst = 0, all = 0;
        for (int round = 0; round < 50; ++round) {
            Watch watch(std::string(R"({"zones":[{"name":"p","polygon":[[0,0],[0.5,0],[0.5,1],[0,1]]},
                {"name":"l","line":[[0.5,0],[0.5,1]]}],"hysteresis":)") +
                        hysteresis + "}");
            const auto x = place(random);
            std::size_t own = 0;
            for (int frame = 0; frame < 300; ++frame) {
                const Track track{.id = 1,
                                  .x = x - 20 + jitter(random),
                                  .y = 20 + jitter(random),
                                  .width = 40,
                                  .height = 80,
                                  .object = 0};
                own += watch.events.update({&track, 1}, frame / 30.0).size();
            }
            worst = std::max(worst, own);
            all += own;
        }
        return std::pair{worst, all};
    };
    // 0.1 of 80 pixels is a radius of 8; jitter in x and y within a disc of that radius
    const auto with = count("0.1", 8 / std::numbers::sqrt2), without = count("0", 8 / std::numbers::sqrt2);
    EXPECT_LE(with.first, 3);  // enter; or at most one leave or crossing besides
    EXPECT_GT(without.second, 100 * with.second);
    RecordProperty("events_with", static_cast<int>(with.second));
    RecordProperty("events_without", static_cast<int>(without.second));
}

// A thin zone is not missed, because the position moves through it, however small it is compared to the hysteresis.
TEST(ZoneEvents, HysteresisDelaysButDoesNotMissEvents) {
    Watch watch(R"({"zones":[{"name":"strip","polygon":[[0.5,0],[0.51,0],[0.51,1],[0.5,1]]},
        {"name":"l","line":[[0.5,0],[0.5,1]]}],"hysteresis":1})");
    std::string all;
    for (double x = 20; x < 180; x += 0.5)
        if (const auto events = watch(x, {at(1, x, 100)}); !events.empty())
            all += (all.empty() ? "" : " ") + std::to_string(static_cast<int>(x)) + "=" + events;
    EXPECT_EQ(all, "120=enter:strip:1 120=cross:l:1:left 122=leave:strip:1:25");
}

// Frames that have no more tracks and events than those before them.
TEST(ZoneEvents, UpdatesDoNotAllocate) {
    Watch watch(yard);
    std::vector<Track> tracks;
    for (int id = 1; id <= 40; ++id) tracks.push_back(at(id, 5 * id, 100));
    watch.events.update(tracks, 0);
    const auto before = kit::allocations();
    std::size_t events = 0;
    for (int frame = 1; frame < 100; ++frame) {
        for (auto& track : tracks) track.x = static_cast<double>((track.id * 37 + frame * 11) % side);
        events += watch.events.update(tracks, frame).size();
    }
    EXPECT_EQ(kit::allocations() - before, 0);
    EXPECT_GT(events, 100);
}

// Random walks of several tracks that appear, disappear and are hidden, with random zones and zone changes. At every
// time, for each zone: enters - leaves = objects inside. Without hysteresis, objects inside are those of the reference,
// and events alternate.
class RandomWalks : public ::testing::TestWithParam<int> {};

TEST_P(RandomWalks, EntersMinusLeavesAreObjectsInside) {
    std::mt19937 random(static_cast<unsigned>(GetParam()));
    const bool plays = GetParam() % 2 == 1;
    const auto real = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
    const auto zones = [&] {
        std::vector<EventZone> all;
        for (int index = 0; index < 4; ++index) {
            EventZone zone{.name = "p" + std::to_string(index), .enter = true, .leave = true};
            for (int corner = 0; corner < 3 + index; ++corner) zone.points.push_back({real(1), real(1)});
            all.push_back(zone);
        }
        return ZoneSet(all, plays ? 0.1 : 0);
    };
    auto set = zones();
    ZoneEvents events(set, side, side);
    std::map<std::pair<const EventZone*, std::int64_t>, bool> inside;
    std::map<std::int64_t, Track> tracks;
    std::vector<std::shared_ptr<const EventZone>> kept;  // so that addresses are not used again
    std::int64_t last_id = 0;
    std::size_t reported = 0;
    for (int frame = 0; frame < 3000; ++frame) {
        if (tracks.size() < 6 && real(1) < 0.1) {
            ++last_id;
            tracks[last_id] = at(last_id, real(side), real(side));
        }
        std::erase_if(tracks, [&](const auto&) { return real(1) < 0.01; });
        for (auto& [id, track] : tracks) {
            const bool is_unseen = real(1) < 0.2;
            const auto x = track.x + 5 + real(12) - 6, y = track.y + 20 + real(12) - 6;
            track = is_unseen ? unseen(id, x, y) : at(id, x, y);
        }
        if (real(1) < 0.005) {
            set = zones();
            events.set_zones(set);
        }
        std::vector<Track> list;
        for (const auto& [id, track] : tracks) list.push_back(track);
        for (const auto& event : events.update(list, frame / 10.0)) {
            kept.push_back(event.zone);
            auto& was = inside[{event.zone.get(), event.track}];
            ASSERT_EQ(was, event.type == leave) << frame;
            was = event.type == enter;
            ++reported;
        }
        for (std::size_t zone = 0; zone < set.zones().size(); ++zone) {
            int expected = 0;
            for (const auto& [key, is_inside] : inside) expected += is_inside && key.first == set.zones()[zone].get();
            ASSERT_EQ(events.inside()[zone], expected) << frame;
            if (plays) continue;
            std::vector<GridPoint> polygon;
            for (const auto& point : set.zones()[zone]->points)
                polygon.push_back({std::llround(point.x * side * 256), std::llround(point.y * side * 256)});
            for (const auto& track : list) {
                if (track.object < 0) continue;
                const auto grid = [](double value) { return std::llround(std::clamp<double>(value, 0, side) * 256); };
                const GridPoint anchor{grid(track.x + track.width / 2), grid(track.y + track.height)};
                const auto found = inside.find({set.zones()[zone].get(), track.id});
                ASSERT_EQ(found != inside.end() && found->second, zone_geometry::contains(polygon, anchor)) << frame;
            }
        }
        for (const auto& [key, is_inside] : inside) {
            const bool is_current =
                std::ranges::any_of(set.zones(), [&](const auto& z) { return z.get() == key.first; });
            ASSERT_TRUE(!is_inside || (is_current && tracks.contains(key.second)));
        }
    }
    EXPECT_GT(reported, 300);
}

INSTANTIATE_TEST_SUITE_P(, RandomWalks, ::testing::Range(0, 6), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace framewire
