#include "framewire/service/live_camera.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace framewire::service {
namespace {

using Kind = LiveZone::Kind;

TEST(LiveZones, ScaleWithTheFrameSize) {
    const LiveZones zones{{{Kind::privacy, {10, 20, 31, 40}}, {Kind::detect, {0, 0, 128, 96}}}, {1, 96, 128, 3}};
    EXPECT_EQ(zones_on(zones, {1, 96, 128, 1}), zones.zones);
    const std::vector<LiveZone> twice{{Kind::privacy, {20, 40, 62, 80}}, {Kind::detect, {0, 0, 256, 192}}};
    EXPECT_EQ(zones_on(zones, {1, 192, 256, 3}), twice);
    const std::vector<LiveZone> third{{Kind::privacy, {3, 6, 11, 14}}, {Kind::detect, {0, 0, 42, 32}}};
    EXPECT_EQ(zones_on(zones, {1, 32, 42, 3}), third) << "outwards";
    const LiveZones corner{{{Kind::mosaic, {127, 95, 1, 1}}}, {1, 96, 128, 3}};
    for (const int side : {1, 7, 100, 16384})
        EXPECT_NO_THROW(check_zones(zones_on(corner, {1, side, side, 3}), {1, side, side, 3})) << side;
}

TEST(LiveZones, TouchingObjectsAreCounted) {
    const std::vector<Component> objects{
        {1, 0, 0, 10, 10, 1, 0, 0}, {2, 10, 10, 5, 5, 1, 0, 0}, {3, 40, 0, 5, 5, 1, 0, 0}};
    std::vector<Component> counted;
    const auto numbers = [&](const std::vector<Zone>& areas) {
        count_in(areas, objects, counted);
        std::vector<int> ids;
        for (const auto& object : counted) ids.push_back(object.id);
        return ids;
    };
    EXPECT_EQ(numbers({}), (std::vector{1, 2, 3})) << "everywhere";
    EXPECT_EQ(numbers({{9, 9, 2, 2}}), (std::vector{1, 2}));
    EXPECT_EQ(numbers({{10, 0, 30, 10}}), std::vector<int>()) << "beside them";
    EXPECT_EQ(numbers({{44, 4, 100, 100}, {0, 0, 1, 1}}), (std::vector{1, 3}));
}

TEST(LiveZones, KindNamesAreParsed) {
    for (const auto kind : {Kind::privacy, Kind::mosaic, Kind::detect})
        EXPECT_EQ(parse_zone_kind(to_string(kind)), kind);
    EXPECT_THROW(parse_zone_kind("blur"), Error);
}

}  // namespace
}  // namespace framewire::service
