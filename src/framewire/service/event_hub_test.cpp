#include "framewire/service/event_hub.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/http.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace framewire::service {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

// Output that collects events and waits for them.
class Listener final : public EventOutput {
public:
    void tell(const SharedEvent& event) override {
        const std::lock_guard lock(mutex_);
        all_.push_back(Json::parse(event->json));
        reported_.notify_all();
    }
    void tell_zones(const std::string& camera, const ZoneOccupancy& zones) override {
        zones_ = camera + ":";
        for (std::size_t zone = 0; zone < zones.occupied.size(); ++zone)
            zones_ += " " + zones.zones.zones()[zone]->name + (zones.occupied[zone] ? "+" : "-");
    }
    void end(Clock::time_point) override { ended_ = true; }

    std::vector<Json> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        reported_.wait_for(lock, 30s, [&] { return all_.size() >= count; });
        return all_;
    }
    bool ended() const { return ended_; }
    // Returns the newest zones; call it after the end.
    const std::string& zones() const { return zones_; }

private:
    std::string zones_;
    std::mutex mutex_;
    std::condition_variable reported_;
    std::vector<Json> all_;
    bool ended_ = false;
};

class Events : public ::testing::Test {
protected:
    void begin(const EventOptions& options, const std::vector<std::string>& cameras = {"door"}) {
        auto output = std::make_unique<Listener>();
        listener_ = output.get();
        std::vector<std::unique_ptr<EventOutput>> outputs;
        outputs.push_back(std::move(output));
        hub_.emplace(options, cameras, std::move(outputs));
    }

    void see(int frame, int objects, Clock::time_point captured = Clock::now(), const std::string& camera = "door") {
        const std::vector<Component> found(static_cast<std::size_t>(objects), {1, 3, 4, 10, 20, 150, 1200, 2025});
        hub_->of(camera).seen({{frame, 0, captured}, {1, 48, 64, 3}, found});
    }

    void see_events(int frame, int objects, int events) {
        const std::vector<Component> found(static_cast<std::size_t>(objects), {1, 3, 4, 10, 20, 150, 1200, 2025});
        const auto zone = std::make_shared<const EventZone>(EventZone{.name = "yard"});
        std::vector<ZoneEvent> in_zones;
        for (int track = 1; track <= events; ++track)
            in_zones.push_back({.type = ZoneEvent::Type::leave, .zone = zone, .track = 1000 * frame + track});
        hub_->of("door").seen({{frame, 0, Clock::now()}, {1, 48, 64, 3}, found, {}, in_zones});
    }

    std::vector<Json> end() {
        hub_->end(Clock::now());
        return listener_->wait_for(0);
    }

    static std::vector<std::string> words(const std::vector<Json>& events) {
        std::vector<std::string> all;
        for (const auto& event : events)
            all.push_back(event["type"] == "motion" ? event["state"].get<std::string>()
                          : event["type"] == "zone"
                              ? event["event"].get<std::string>() + event["track"].dump()
                              : event["frame"].dump() + ":" + std::to_string(event["objects"].size()));
        return all;
    }
    using Words = std::vector<std::string>;

    std::optional<EventHub> hub_;
    Listener* listener_ = nullptr;
};

TEST_F(Events, AreSentUntilObjectsDisappear) {
    begin({.motion = {.after_frames = 2, .hold = 1h}});
    see(0, 0);
    see(1, 2);
    see(2, 1);
    see(3, 0);
    see(4, 0);
    see(5, 1);
    const auto events = end();
    EXPECT_EQ(words(events), (Words{"OFF", "1:2", "ON", "2:1", "3:0", "5:1", "OFF"}));
    EXPECT_TRUE(listener_->ended());
    for (std::size_t at = 0; at < events.size(); ++at) {
        const auto id = events[at]["id"].get<std::string>();
        EXPECT_TRUE(id.starts_with("door-")) << id;
        EXPECT_TRUE(id.ends_with("-" + std::to_string(at + 1))) << "without gaps: " << id;
    }
    EXPECT_EQ(hub_->figures().objects, 4);
    EXPECT_EQ(hub_->figures().motion, 3);
    EXPECT_EQ(hub_->figures().left_out, 0);
}

// Outputs get the newest state of the zones, even if no frame follows.
TEST_F(Events, ZonesAreTold) {
    begin({}, {"door", "yard"});
    const std::vector<EventZone> zones{{.name = "lawn", .points = {{0, 0}, {1, 0}, {1, 1}}, .enter = true},
                                       {.name = "gate", .points = {{0, 0}, {1, 1}}, .cross = true}};
    hub_->of("yard").zones_changed(ZoneSet(zones), std::vector<int>{0, 0});
    hub_->of("yard").zones_changed(ZoneSet(zones), std::vector<int>{2, 0});
    end();
    EXPECT_EQ(listener_->zones(), "yard: lawn+ gate-");
}

// A frame without objects can have events, because an object leaves after it was last seen.
TEST_F(Events, InZonesAreSentBeforeTheObjects) {
    begin({.motion = {.after_frames = 1000}});
    see_events(1, 1, 2);
    see_events(2, 0, 0);
    see_events(3, 0, 1);
    const auto events = end();
    EXPECT_EQ(words(events), (Words{"OFF", "leave1001", "leave1002", "1:1", "2:0", "leave3001"}));
    EXPECT_EQ(events[1]["zone"], "yard");
    EXPECT_EQ(events[1]["width"], 64);
    EXPECT_EQ(hub_->figures().zone, 3);
}

// If frames arrive faster than the thread takes them, objects may be skipped, but no event in a zone.
TEST(SeenFrames, KeepEventsOfReplacedFrames) {
    SeenSignal signal;
    SeenFrames queue(signal);
    const auto zone = std::make_shared<const EventZone>(EventZone{.name = "yard"});
    constexpr int count = 100;
    for (int frame = 1; frame <= count; ++frame) {
        const ZoneEvent event{.zone = zone, .track = frame};
        queue.seen({{frame, 0, Clock::now()}, {1, 48, 64, 3}, {}, {}, {&event, 1}});
    }
    SeenFrames::Frame frame;
    std::int64_t next = 1;
    int frames = 0;
    for (; queue.take(frame); ++frames)
        for (const auto& event : frame.events) EXPECT_EQ(event.track, next++);
    EXPECT_EQ(next, count + 1);
    EXPECT_EQ(frames, 32);
    EXPECT_EQ(signal.left_out, count - 32);
}

TEST_F(Events, MotionEndsWithoutFurtherFrames) {
    begin({.motion = {.after_frames = 1, .hold = 50ms}});
    see(1, 1);
    EXPECT_EQ(words(listener_->wait_for(4)), (Words{"OFF", "ON", "1:1", "OFF"}));
    EXPECT_EQ(words(end()).size(), 4u);
}

TEST_F(Events, AreLimitedToTheObjectsRate) {
    begin({.motion = {.after_frames = 1000}, .objects_rate = 10});
    const auto start = Clock::now();
    for (int frame = 0; frame < 30; ++frame) see(frame, 1, start + frame * 33'333us);
    see(30, 0, start + 1s);
    const auto events = words(end());
    EXPECT_EQ(events.front(), "OFF");
    EXPECT_EQ(events.back(), "30:0") << "that there is nothing any more is always reported";
    EXPECT_EQ(std::ssize(events), 12) << "ten of a second, the first state, and the end";
}

TEST_F(Events, AreSeparatePerCamera) {
    begin({.motion = {.after_frames = 1, .hold = 1h}}, {"door", "yard"});
    see(1, 1);
    see(2, 1, Clock::now(), "yard");
    const auto events = end();
    int of_yard = 0;
    for (const auto& event : events) of_yard += event["camera"] == "yard";
    EXPECT_EQ(events.size(), 8u);
    EXPECT_EQ(of_yard, 4);
    EXPECT_THROW(hub_->of("cellar"), Error);
    EXPECT_TRUE(hub_->feeds().messages(""));
    EXPECT_TRUE(hub_->feeds().server_sent("yard"));
    EXPECT_FALSE(hub_->feeds().server_sent("cellar"));
}

// HTTP clients receive server-sent events or WebSocket messages, from all cameras or from one.
TEST_F(Events, ReachHttpClients) {
    begin({.motion = {.after_frames = 1000}}, {"door", "yard"});
    listener_->wait_for(2);
    const auto nothing = [] {};
    net::http::FeedClient all(hub_->feeds().server_sent(""), nothing), yard(hub_->feeds().server_sent("yard"), nothing),
        messages(hub_->feeds().messages("door"), nothing);
    see(1, 1);
    const auto door = listener_->wait_for(3).back();
    see(2, 1, Clock::now(), "yard");
    listener_->wait_for(4);
    hub_->end(Clock::now());

    const auto of_all = all.take(), of_yard = yard.take(), of_door = messages.take();
    EXPECT_TRUE(of_all.ended && of_yard.ended && of_door.ended);
    ASSERT_EQ(of_all.parts.size(), 2u);
    ASSERT_EQ(of_yard.parts.size(), 1u);
    ASSERT_EQ(of_door.parts.size(), 1u);
    EXPECT_EQ(of_all.parts[1], of_yard.parts[0]) << "encoded once";
    EXPECT_EQ(Json::parse(*of_door.parts[0]), door);
    EXPECT_EQ(*of_all.parts[0], "event: objects\ndata: " + *of_door.parts[0] + "\n\n");
}

TEST_F(Events, CarryTheFrameTime) {
    begin({.motion = {.after_frames = 1000}});
    see(1, 1, Clock::now() - 1h);
    const auto time = end().back()["time"].get<std::string>();
    const auto now = std::chrono::system_clock::now();
    EXPECT_GT(time, to_utc_text(now - 61min));
    EXPECT_LT(time, to_utc_text(now - 59min));
}

}  // namespace
}  // namespace framewire::service
