// What viewers see through two relays: frames of the camera within the bound of its own server, no wider; and a relay
// that is killed and comes back.

#include "network/cases/rig.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace framewire::network {
namespace relay_test {

using namespace std::chrono_literals;

constexpr double fps = 10;

// A crowd of one, who checks all pixels.
Words checking(const Served& server, const Camera& camera, double seconds) {
    return {server.url() + "," + camera.log(), "viewers=0", "checking=1", "window=2500", "reconnect=30", "arrivals=1",
            fmt::format("seconds={}", seconds)};
}

TEST(Relay, PicturesThroughTwoAreWithinTheBoundOfTheFirstServer) {
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
    EXPECT_EQ(viewer["failed"].size(), 0u) << viewer["outside"] << " bytes of no frame";
    tell("pictures checked", viewer["checked"], "");
    tell("latency of the first server, p50", direct.result()["viewers"][0]["latency_ms"]["p50"], "ms");
    tell("latency through two relays, p50", viewer["latency_ms"]["p50"], "ms");
    tell("latency through two relays, p99", viewer["latency_ms"]["p99"], "ms");
    tell("oldest frame that was needed", viewer["oldest_age_ms"], "ms");
}

TEST(Relay, ThatIsKilledIsFoundAgain) {
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
        EXPECT_EQ(viewer["failed"].size(), 0u) << viewer["outside"] << " bytes of no frame";
        ASSERT_FALSE(viewer["arrivals"].empty());
        EXPECT_GT(viewer["arrivals"].back()[0], at_ms + 1'000);
    }
    EXPECT_EQ(seen["all"]["connections"], 2);
    EXPECT_EQ(others["all"]["connections"], 1);
    EXPECT_EQ(others["all"]["skipped"], 0);
    for (const auto& arrival : seen["viewers"][0]["arrivals"])
        if (arrival[0] > at_ms) {
            tell("first picture after the relay's death", arrival[0].get<double>() - at_ms, "ms");
            break;
        }
}

}  // namespace relay_test
}  // namespace framewire::network
