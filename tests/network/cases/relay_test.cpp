// Tests that viewers of two chained relays see frames of the camera within the bound of the first server, no wider;
// also tests a relay that is killed and restarted.

#include "framewire/net/client.hpp"
#include "kit/images.hpp"
#include "network/cases/rig.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;

constexpr double fps = 10;

// Returns the arguments for a single viewer that checks all pixels.
Words checking(const Served& server, const Camera& camera, double seconds) {
    return {server.url() + "," + camera.log(), "viewers=0", "checking=1", "window=2500", "reconnect=30", "arrivals=1",
            fmt::format("seconds={}", seconds)};
}

TEST(Relay, PicturesThroughTwoRelaysStayWithinTheBound) {
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", "320x240", fps);
    Served first({"-i", camera.source(), "--threshold", "12"});
    Served relay({"-i", first.url()});
    Served second({"-i", relay.url()});
    Crowd direct(checking(first, camera, scaled(5.0, 60.0)));
    const auto seen = Crowd(checking(second, camera, scaled(5.0, 60.0))).result();
    const auto& viewer = seen["viewers"][0];
    EXPECT_EQ(viewer["errors"], Json::array());
    EXPECT_GT(viewer["checked"], 2 * fps);
    EXPECT_EQ(viewer["unstamped"], 0);
    EXPECT_EQ(viewer["failed"].size(), 0u) << viewer["outside"] << " bytes outside the bound";
    tell("pictures checked", viewer["checked"], "");
    tell("latency from the first server, p50", direct.result()["viewers"][0]["latency_ms"]["p50"], "ms");
    tell("latency through two relays, p50", viewer["latency_ms"]["p50"], "ms");
    tell("latency through two relays, p99", viewer["latency_ms"]["p99"], "ms");
    tell("largest age of a shown frame", viewer["oldest_age_ms"], "ms");
}

// For a while, viewers and relays have lines that carry less than the stream, or nothing. They must then show fewer
// pictures, each of which is one frame within the bound.
TEST(Relay, PicturesAreCompleteOnSlowLines) {
    for (const std::string mode : {"exact", "lossless", "bounded"}) {
        SCOPED_TRACE(mode);
        const double seconds = scaled(6.0, 200.0);
        const e2e::TemporaryFolder folder;
        // Six processes share the machine: under a sanitizer they can keep up only with small frames.
        Camera camera(folder, "cam", kit::brief() ? "128x96" : "320x240", fps, {}, mode == "bounded" ? 40 : 4, 30);
        Words words{"-i", camera.source(), "--mode", mode, "--viewers", "400", "--controls"};
        if (mode != "lossless") words.insert(words.end(), {"--threshold", "12"});
        Served first(words);
        const auto slow = make_proxy_link(), stalling = make_proxy_link();
        slow->set(line_settings("delay=5:rate=1M:queue=50"));
        const auto open = line_settings("delay=5:rate=4M:queue=50"),
                   shut = line_settings("delay=5:rate=50000:queue=50");
        stalling->set(open);
        const auto through = [](Link& link, const Served& server) {
            return "tcp://" + link.reach(server.port()) + "/main";
        };
        Served relay({"-i", through(*slow, first)});
        Served second({"-i", relay.url()});
        const auto crowd = [&](const std::string& url) {
            return Crowd({url + "," + camera.log(), fmt::format("viewers={}", scaled(2, 40)),
                          fmt::format("checking={}", scaled(1, 4)), "window=60000", "reconnect=30",
                          fmt::format("seconds={}", seconds)});
        };
        Crowd at_once = crowd(first.url()), by_websocket = crowd("ws" + first.url().substr(3)),
              slowly = crowd(through(*slow, first)), with_stalls = crowd(through(*stalling, first)),
              behind = crowd(second.url());
        int threshold = 12;
        for (double passed = 0; passed + 2 < seconds; passed += 2) {
            std::this_thread::sleep_for(1300ms);
            stalling->set(shut);
            std::this_thread::sleep_for(700ms);
            stalling->set(open);
            if (mode != "lossless")
                order(first, "PUT", "threshold", {{"threshold", threshold = threshold == 12 ? 5 : 12}});
        }
        for (auto* one : {&at_once, &by_websocket, &slowly, &with_stalls, &behind}) {
            const auto seen = one->result();
            EXPECT_EQ(seen["all"]["errors"], Json::array());
            EXPECT_GT(seen["all"]["checked"], 0);
            EXPECT_EQ(seen["all"]["unstamped"], 0);
            EXPECT_EQ(seen["all"]["failed"].size(), 0u) << seen["all"]["outside"] << " bytes outside the bound";
            tell("pictures checked, " + mode, seen["all"]["checked"], "");
        }
    }
}

// Another mode restarts the stream, and with it the relays' streams, so their viewers must reconnect, too.
TEST(Relay, ViewersReconnectToARestartedStream) {
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", "160x120", fps);
    Served first({"-i", camera.source(), "--controls"});
    Served relay({"-i", first.url()});
    Served second({"-i", relay.url()});
    net::Client viewer(net::parse_stream_address(second.url()), {.reconnect = 30s});
    ASSERT_TRUE(viewer.next());
    EXPECT_EQ(viewer.info().mode, codec::Mode::exact);
    order(first, "PUT", "threshold", {{"mode", "lossless"}});
    while (viewer.info().mode != codec::Mode::lossless) ASSERT_TRUE(viewer.next());
    EXPECT_GT(viewer.counts().reconnections, 0);
}

TEST(Relay, ViewersReconnectToAKilledRelay) {
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", "160x120", fps);
    Served first({"-i", camera.source()});
    const auto port = static_cast<std::uint16_t>(free_port());
    auto relay = std::make_unique<Served>(Words{"-i", first.url()}, nullptr, port);
    Crowd beside(checking(first, camera, 7));
    Crowd behind(checking(*relay, camera, 9));
    std::this_thread::sleep_for(3s);
    relay->program().signal(SIGKILL);
    relay->program().wait();
    const auto at_ms = now_ms();
    relay = std::make_unique<Served>(Words{"-i", first.url()}, nullptr, port);
    const auto seen = behind.result(), others = beside.result();
    for (const auto* result : {&seen, &others}) {
        const auto& viewer = (*result)["viewers"][0];
        EXPECT_EQ(viewer["errors"], Json::array());
        EXPECT_EQ(viewer["failed"].size(), 0u) << viewer["outside"] << " bytes outside the bound";
        ASSERT_FALSE(viewer["arrivals"].empty());
        EXPECT_GT(viewer["arrivals"].back()[0], at_ms + 1'000);
    }
    EXPECT_EQ(seen["all"]["connections"], 2);
    EXPECT_EQ(others["all"]["connections"], 1);
    EXPECT_EQ(others["all"]["skipped"], 0);
    for (const auto& arrival : seen["viewers"][0]["arrivals"])
        if (arrival[0] > at_ms) {
            tell("first picture after the relay was killed", arrival[0].get<double>() - at_ms, "ms");
            break;
        }
}

}  // namespace
}  // namespace framewire::network
