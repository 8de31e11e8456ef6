#include "framewire/service/events.hpp"
#include "framewire/net/wire.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace framewire::service {
namespace {

const WallTime moment{std::chrono::milliseconds(1'795'460'400'123)};

TEST(Event, FormatsObjectsAsOneLineOfJson) {
    const std::vector<Component> objects{{1, 3, 4, 10, 20, 150, 1200, 2025}};
    const SeenFrame frame{{17, 0.5, {}}, {1, 48, 64, 3}, objects};
    const auto event = objects_event("door", "door-5-1", moment, frame);
    EXPECT_EQ(event->camera, "door");
    EXPECT_EQ(event->type, Event::Type::objects);
    EXPECT_EQ(
        event->json,
        R"({"type":"objects","id":"door-5-1","camera":"door","frame":17,"time":"2026-11-23T19:00:00.123Z","width":64,"height":48,)"
        R"("objects":[{"id":1,"box":[3,4,10,20],"area":150,"centroid":[8.00,13.50]}]})");
    const auto none = objects_event("door", "door-5-2", moment, {{18, 0.5, {}}, {1, 48, 64, 3}, {}});
    EXPECT_TRUE(none->json.ends_with(R"("objects":[]})")) << none->json;
}

TEST(Event, FormatsMotionAsOneLineOfJson) {
    EXPECT_EQ(
        motion_event("door", "door-5-1", moment, true, 17)->json,
        R"({"type":"motion","id":"door-5-1","camera":"door","state":"ON","frame":17,"time":"2026-11-23T19:00:00.123Z"})");
    EXPECT_NE(motion_event("door", "door-5-1", moment, false, 17)->json.find(R"("state":"OFF")"), std::string::npos);
}

TEST(Event, FormatsZoneEventsAsOneLineOfJson) {
    const auto zone = std::make_shared<const EventZone>(EventZone{.name = "\u00fc \"yard\""});
    const ZoneEvent left{.type = ZoneEvent::Type::leave,
                         .zone = zone,
                         .track = 7,
                         .x = 96,
                         .y = 40,
                         .width = 31,
                         .height = 64,
                         .seconds = 12.4,
                         .gone = true};
    const auto event = zone_event("door", "door-1-2", {}, {{17, 0, {}}, {1, 720, 1280, 3}}, left);
    EXPECT_EQ(event->json, R"({"type":"zone","id":"door-1-2","camera":"door","frame":17,)"
                           R"("time":"1970-01-01T00:00:00.000Z","width":1280,"height":720,"event":"leave",)"
                           R"("zone":"\u00fc \"yard\"","track":7,"box":[96,40,31,64],"seconds":12.40,"gone":true})");
    const auto read = read_event(event->json);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->type, Event::Type::zone);
    EXPECT_EQ(to_string(read->type), "zone");
    EXPECT_EQ(read->camera, "door");
}

TEST(Event, RoundTripsThroughJson) {
    for (const bool on : {true, false}) {
        const auto written = motion_event("yard.2", "yard.2-5-1", moment, on, 3);
        const auto read = read_event(written->json);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->type, Event::Type::motion);
        EXPECT_EQ(read->camera, "yard.2");
        EXPECT_EQ(read->on, on);
        EXPECT_EQ(read->json, written->json);
    }
}

TEST(Event, StaysBelowTheMaximumLength) {
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    const std::vector<Component> objects(net::max_objects,
                                         {most, most, most, most, most, 1, std::int64_t{most}, std::int64_t{most}});
    const auto event =
        objects_event(std::string(64, 'n'), std::string(90, '9'), moment, {{}, {1, most, most, 3}, objects});
    EXPECT_LE(event->json.size(), max_event_bytes);
    EXPECT_TRUE(read_event(event->json));
}

// An object is listed once for each track that shares it, so there are at most as many entries as objects and tracks.
TEST(Event, StaysBelowTheMaximumLengthWithSharedTracks) {
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    const std::vector<Component> objects(net::max_objects,
                                         {most, most, most, most, most, 1, std::int64_t{most}, std::int64_t{most}});
    // The largest picture, the largest age that a browser counts in milliseconds, and a picture's width per frame.
    constexpr double side = 16384, age_s = 9e12, velocity = -side * 1000;
    const std::vector<Track> tracks(most_tracks, {.id = std::numeric_limits<std::int64_t>::max(),
                                                  .x = -side,
                                                  .y = -side,
                                                  .width = side,
                                                  .height = side,
                                                  .velocity_x = velocity,
                                                  .velocity_y = velocity,
                                                  .age_s = age_s,
                                                  .object = static_cast<int>(net::max_objects) - 1});
    const auto event =
        objects_event(std::string(64, 'n'), std::string(90, '9'), moment, {{}, {1, most, most, 3}, objects, tracks});
    const std::string entry = R"("track":)";
    std::size_t listed = 0;
    for (auto at = event->json.find(entry); at != event->json.npos; at = event->json.find(entry, at + 1)) ++listed;
    EXPECT_EQ(listed, tracks.size());
    EXPECT_LE(event->json.size(), max_event_bytes);
    EXPECT_TRUE(read_event(event->json));
}

TEST(Event, RejectsInvalidJson) {
    const std::string good = R"({"type":"motion","id":"a","camera":"door","state":"ON"})";
    ASSERT_TRUE(read_event(good));
    for (const std::string bad :
         {"", "{", "[]", "7", R"({"type":"motion","id":"a","camera":"door"})",
          R"({"type":"motion","id":"a","camera":"door","state":"on"})",
          R"({"type":"motion","id":"a","camera":"do/or","state":"ON"})",
          R"({"type":"motion","id":"a","camera":7,"state":"ON"})", R"({"type":"motion","camera":"door","state":"ON"})",
          R"({"type":"door","id":"a","camera":"door"})", "{\"type\":\"objects\",\n\"id\":\"a\",\"camera\":\"door\"}"})
        EXPECT_FALSE(read_event(bad)) << bad;
    EXPECT_FALSE(read_event(good + std::string(max_event_bytes, ' ')));
}

TEST(Event, IdsAreUniqueAcrossRestarts) {
    EventIds first("door", moment), second("door", moment + std::chrono::milliseconds(1));
    EXPECT_EQ(first.next(), "door-1795460400123-1");
    EXPECT_EQ(first.next(), "door-1795460400123-2");
    EXPECT_EQ(second.next(), "door-1795460400124-1");
}

using namespace std::chrono_literals;

const Clock::time_point start{};

TEST(MotionState, BeginsAfterConsecutiveFrames) {
    MotionState motion({.after_frames = 3, .hold = 5s});
    EXPECT_FALSE(motion.seen(start, true));
    EXPECT_FALSE(motion.seen(start + 1s, true));
    EXPECT_FALSE(motion.seen(start + 2s, false)) << "they are counted again";
    EXPECT_FALSE(motion.seen(start + 3s, true));
    EXPECT_FALSE(motion.seen(start + 4s, true));
    EXPECT_FALSE(motion.ends());
    EXPECT_TRUE(motion.seen(start + 5s, true));
    EXPECT_TRUE(motion.on());
    EXPECT_FALSE(motion.seen(start + 6s, true)) << "it is ON already";
}

TEST(MotionState, EndsAfterTheHoldTime) {
    MotionState motion({.after_frames = 1, .hold = 5s});
    EXPECT_FALSE(motion.end(start + 100s)) << "there was none";
    EXPECT_TRUE(motion.seen(start + 1s, true));
    EXPECT_EQ(motion.ends(), start + 6s);
    EXPECT_FALSE(motion.seen(start + 4s, true));
    EXPECT_FALSE(motion.seen(start + 8s, false));
    EXPECT_FALSE(motion.end(start + 8s)) << "from the last frame with objects on";
    EXPECT_TRUE(motion.end(start + 9s));
    EXPECT_FALSE(motion.on());
    EXPECT_FALSE(motion.end(start + 9s));
}

TEST(MotionState, EndsAtOnceOnRequest) {
    MotionState motion({.after_frames = 1, .hold = 5s});
    EXPECT_FALSE(motion.end(start, true));
    EXPECT_TRUE(motion.seen(start, true));
    EXPECT_TRUE(motion.end(start, true));
}

}  // namespace
}  // namespace framewire::service
