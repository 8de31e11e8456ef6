#include "framewire/service/frigate.hpp"
#include "framewire/net/testing/test_tcp.hpp"
#include "framewire/service/frigate_testing.hpp"
#include "kit/captured_log.hpp"
#include "kit/eventually.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace framewire::service {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using kit::eventually;

FrigateOptions options_for(std::uint16_t port) {
    FrigateOptions options{.server = {.server = {"127.0.0.1", port}}, .cameras = {{"door", "front_door"}}};
    options.request_deadline = 2s;
    return options;
}

// Sends motion of cameras to Frigate.
struct Sender {
    explicit Sender(std::uint16_t port) : Sender(options_for(port)) {}
    explicit Sender(const FrigateOptions& options) : events(options, std::vector<std::string>{"door", "yard"}) {}

    void motion(const std::string& camera, bool on) {
        events.tell(std::make_shared<const Event>(
            Event{.type = Event::Type::motion, .camera = camera, .on = on, .json = "{}"}));
    }

    FrigateEvents events;
};

TEST(FrigateNames, NeedNoEscape) {
    for (const auto* name : {"a", "front_door-2", "A1"}) EXPECT_TRUE(is_frigate_name(name)) << name;
    for (const auto& name :
         std::vector<std::string>{"", "a.b", "a b", "a/b", "..", "a%", "\u00e4", std::string(65, 'a')})
        EXPECT_FALSE(is_frigate_name(name)) << name;
}

TEST(Frigate, GetsAnEventPerMotion) {
    FakeFrigate frigate({"front_door", "yard"});
    Sender sender(frigate.port());
    sender.motion("door", false);
    sender.motion("door", true);
    sender.motion("yard", true);
    sender.events.tell(
        std::make_shared<const Event>(Event{.type = Event::Type::objects, .camera = "door", .on = true, .json = "{}"}));
    sender.motion("attic", true);
    ASSERT_TRUE(eventually([&] { return frigate.entries().size() == 2; }));
    EXPECT_FALSE(frigate.entries()[0].end || frigate.entries()[1].end);
    sender.motion("door", false);
    ASSERT_TRUE(eventually([&] { return sender.events.figures().ended == 1; }));
    sender.motion("door", true);
    ASSERT_TRUE(eventually([&] { return frigate.entries().size() == 3; }));
    sender.motion("door", false);
    sender.motion("yard", false);
    sender.events.end(Clock::now() + 10s);
    const auto entries = frigate.entries();
    ASSERT_EQ(entries.size(), 3u);
    const std::string cameras[] = {"front_door", "yard", "front_door"};
    for (std::size_t i = 0; i < entries.size(); ++i) {
        EXPECT_EQ(entries[i].camera, cameras[i]);
        EXPECT_EQ(entries[i].label, "motion");
        EXPECT_EQ(entries[i].create,
                  Json::parse(R"({"source_type":"api","sub_label":null,"duration":null,"include_recording":true})"));
        ASSERT_TRUE(entries[i].end);
        EXPECT_EQ(*entries[i].end, Json::object()) << "Frigate's own time, because nothing was late";
    }
    const auto figures = sender.events.figures();
    EXPECT_EQ(figures.created, 3);
    EXPECT_EQ(figures.ended, 3);
    EXPECT_EQ(figures.dropped, 0);
    EXPECT_EQ(figures.waiting, 0u);
}

TEST(Frigate, IsTriedAgainAndToldOnceInTheLog) {
    const kit::CapturedLog log;
    FakeFrigate frigate({"front_door", "yard"});
    frigate.answer_with(503);
    Sender sender(frigate.port());
    sender.motion("door", true);
    ASSERT_TRUE(eventually([&] { return frigate.requests() >= 3; }));
    EXPECT_EQ(sender.events.figures().waiting, 1u);
    frigate.answer_with(0);
    ASSERT_TRUE(eventually([&] { return frigate.entries().size() == 1; }));
    const auto text = log.text();
    const auto line = text.find("status 503: busy; trying again");
    ASSERT_NE(line, text.npos) << text;
    EXPECT_EQ(text.find("status 503", line + 1), text.npos) << text;
    EXPECT_TRUE(eventually([&] { return log.text().find("motion is sent to Frigate at http") != text.npos; }));
}

// Frigate gives an event its own time, so a start is useless once motion has ended; an end is sent late with its time.
TEST(Frigate, DropsStartsAndKeepsEndsWhileItIsGone) {
    auto frigate = std::make_unique<FakeFrigate>(std::vector<std::string>{"front_door", "yard"});
    const auto port = frigate->port();
    Sender sender(port);
    sender.motion("door", true);
    ASSERT_TRUE(eventually([&] { return frigate->entries().size() == 1; }));
    frigate->answer_with(500);
    const auto ended = std::chrono::system_clock::now().time_since_epoch();
    sender.motion("door", false);
    sender.motion("yard", true);
    sender.motion("yard", false);
    ASSERT_TRUE(eventually([&] { return sender.events.figures().dropped == 1; }));
    std::this_thread::sleep_for(2500ms);
    EXPECT_EQ(sender.events.figures().waiting, 1u);
    frigate->answer_with(0);
    ASSERT_TRUE(eventually([&] { return frigate->entries()[0].end.has_value(); }));
    const auto time = (*frigate->entries()[0].end)["end_time"].get<double>();
    EXPECT_NEAR(time, std::chrono::duration<double>(ended).count(), 1);
    EXPECT_EQ(frigate->entries().size(), 1u);
}

// The connection is refused while Frigate restarts.
TEST(Frigate, IsReachedAgainAfterItsRestart) {
    auto frigate = std::make_unique<FakeFrigate>(std::vector<std::string>{"yard"});
    const auto port = frigate->port();
    Sender sender(port);
    frigate.reset();
    sender.motion("yard", true);
    ASSERT_TRUE(eventually([&] { return sender.events.figures().waiting == 1; }));
    std::this_thread::sleep_for(200ms);
    frigate = std::make_unique<FakeFrigate>(std::vector<std::string>{"yard"}, port);
    EXPECT_TRUE(eventually([&] { return frigate->entries().size() == 1; }));
}

TEST(Frigate, AsksAgainIfTheEventIsNotThereYet) {
    FakeFrigate frigate({"yard"});
    frigate.forget_ends(3);
    Sender sender(frigate.port());
    sender.motion("yard", true);
    ASSERT_TRUE(eventually([&] { return frigate.entries().size() == 1; }));
    sender.motion("yard", false);
    ASSERT_TRUE(eventually([&] { return sender.events.figures().ended == 1; }));
    frigate.forget_ends(100);
    sender.motion("yard", true);
    ASSERT_TRUE(eventually([&] { return sender.events.figures().created == 2; }));
    sender.motion("yard", false);
    EXPECT_TRUE(eventually([&] { return sender.events.figures().dropped == 1; })) << "it gives up";
    EXPECT_EQ(sender.events.figures().waiting, 0u);
}

TEST(Frigate, EndsWithoutATimeThatItRefuses) {
    FakeFrigate frigate({"yard"});
    frigate.refuse_end_times();
    Sender sender(frigate.port());
    sender.motion("yard", true);
    ASSERT_TRUE(eventually([&] { return frigate.entries().size() == 1; }));
    frigate.answer_with(500);
    sender.motion("yard", false);
    std::this_thread::sleep_for(2500ms);
    frigate.answer_with(0);
    ASSERT_TRUE(eventually([&] { return frigate.entries()[0].end.has_value(); }));
    EXPECT_EQ(*frigate.entries()[0].end, Json::object());
}

// A refusal is not repeated for the same motion, and does not delay other cameras.
TEST(Frigate, IsNotAskedAgainAfterARefusal) {
    const kit::CapturedLog log;
    FakeFrigate frigate({"yard"});
    Sender sender(frigate.port());
    for (int motion = 1; motion <= 2; ++motion) {
        sender.motion("door", true);
        ASSERT_TRUE(eventually([&] { return sender.events.figures().dropped == motion; }));
        sender.motion("door", false);
    }
    sender.motion("yard", true);
    ASSERT_TRUE(eventually([&] { return frigate.entries().size() == 1; }));
    EXPECT_EQ(frigate.requests(), 3);
    EXPECT_EQ(sender.events.figures().dropped, 2) << "a refused motion counts once";
    const std::string words = "'door', there 'front_door': status 404: front_door is not a valid camera.";
    const auto line = log.text().find(words);
    ASSERT_NE(line, std::string::npos) << log.text();
    EXPECT_EQ(log.text().find(words, line + 1), std::string::npos) << log.text();
}

// Ids become segments of a path, so those that would lead elsewhere are refused.
TEST(Frigate, IdsAreChecked) {
    FakeFrigate frigate({"yard"});
    for (const auto& id :
         std::vector<std::string>{"../../config/save?x=", "a/b", "a b", "..", "\r\nX: y", std::string(129, 'a')}) {
        frigate.set_id(id);
        Sender sender(frigate.port());
        sender.motion("yard", true);
        ASSERT_TRUE(eventually([&] { return sender.events.figures().dropped == 1; })) << id;
        const auto before = frigate.requests();
        sender.motion("yard", false);
        sender.events.end(Clock::now() + 10s);
        EXPECT_EQ(frigate.requests(), before) << id;
    }
}

// Garbage, redirects and silence never block tell(), and end() keeps its deadline.
TEST(Frigate, DoesNotDelayOthers) {
    net::testing::RawListener silent;
    auto options = options_for(silent.port());
    options.request_deadline = 1min;
    const auto begin = Clock::now();
    {
        Sender sender(options);
        sender.motion("door", true);
        const auto connection = silent.accept();
        ASSERT_TRUE(connection);
        for (int i = 0; i < 1000; ++i) sender.motion("yard", i % 2 == 0);
        sender.motion("door", false);
        sender.events.end(Clock::now() + 300ms);
        EXPECT_EQ(sender.events.figures().waiting, 0u);
    }
    EXPECT_LT(Clock::now() - begin, 20s);
}

}  // namespace
}  // namespace framewire::service
