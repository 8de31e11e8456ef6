// Kills each process in turn with SIGKILL: the others must continue, or recover when it returns, and recordings must be
// complete up to that moment.

#include "network/cases/rig.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>

namespace framewire::network {
namespace {

using e2e::run_framewire;

constexpr double fps = 10;
constexpr int too_few = 8;  // number of frames in some seconds at this rate

// Returns the number of undamaged frames of a recording; a recording of a killed process is read as far as possible.
int frames_of(const e2e::TemporaryFolder& folder, const std::string& recording) {
    const auto read = run_framewire(
        {"run", "--backend", "cpu", "-y", "-i", recording, "-o", folder / "read.y4m", "--stats", folder / "read.json"});
    if (recording.ends_with(".part")) {
        EXPECT_EQ(read.code, 69);
        EXPECT_NE(read.err.find("it is unfinished or truncated: it ends after frame"), std::string::npos) << read.err;
        EXPECT_EQ(read.err.find("block"), std::string::npos) << read.err;
    } else {
        EXPECT_EQ(read.code, 0) << read.err;
    }
    return Json::parse(e2e::contents(folder / "read.json"))["frames"];
}

// Waits until the program has reported this many more frames; the default is two seconds' worth.
void go_on(e2e::Program& program, int frames = 20) {
    ASSERT_TRUE(program.wait_for_frames(program.frames_reported() + frames)) << program.err();
}

void wait_for_viewers(Served& served, int viewers) {
    ASSERT_TRUE(e2e::becomes_true([&] {
        const auto log = served.program().err();
        int came = 0;
        for (auto at = log.find(" joined"); at != log.npos; at = log.find(" joined", at + 1)) ++came;
        return came >= viewers;
    })) << served.program().err();
}

// Stops a crowd and returns its report.
Json ended(Crowd& crowd) {
    crowd.program().signal(SIGTERM);
    return crowd.result();
}

// Expects a viewer to have seen pictures, the last of them after `last_after_ms`, all within their bound except those
// that it saw while the source was lost.
void expect_seen(const Json& viewer, double last_after_ms, double lost_ms = 0, double back_ms = 0) {
    EXPECT_EQ(viewer["errors"], Json::array());
    EXPECT_GT(viewer["checked"], too_few);
    for (const double at_ms : viewer["failed"])
        EXPECT_TRUE(at_ms >= lost_ms && at_ms < back_ms) << viewer["outside"] << " bytes outside the bound";
    ASSERT_FALSE(viewer["arrivals"].empty());
    EXPECT_GT(viewer["arrivals"].back()[0], last_after_ms);
}

// Returns the arguments for a single checking viewer that runs until it is stopped.
Words checking(const std::string& url, const Camera& camera) {
    return {url + "," + camera.log(), "viewers=0",  "checking=1", "window=2500",
            "reconnect=30",           "arrivals=1", "seconds=600"};
}

TEST(Killed, ViewerLeavesAReadableRecordingAndOthersContinue) {
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", "160x120", fps);
    Served served({"-i", camera.source(), "--progress", "json"});
    e2e::Program killed(view_command({served.url(), "-o", folder / "killed.fwd", "--progress", "json"}));
    Crowd crowd(checking(served.url(), camera));
    wait_for_viewers(served, 2);
    go_on(killed);
    const auto at_ms = now_ms();
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.wait().code, 128 + SIGKILL);
    go_on(served.program());
    const auto seen = ended(crowd);
    expect_seen(seen["viewers"][0], at_ms + 1'000);
    EXPECT_EQ(seen["all"]["skipped"], 0);
    EXPECT_EQ(seen["all"]["connections"], 1);
    EXPECT_GT(frames_of(folder, folder / "killed.fwd.part"), too_few);
}

TEST(Killed, ServerLeavesAReadableRecordingAndViewersReconnect) {
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", "160x120", fps);
    const auto port = static_cast<std::uint16_t>(free_port());
    auto served = std::make_unique<Served>(Words{"-i", camera.source(), "--record", folder / "one.fwd"}, nullptr, port);
    Crowd crowd(checking(served->url(), camera));
    e2e::Program recording(
        view_command({served->url(), "--reconnect", "30", "-o", folder / "seen.fwd", "--progress", "json"}));
    wait_for_viewers(*served, 2);
    go_on(recording);
    served->program().signal(SIGKILL);
    served->program().wait();
    const auto at_ms = now_ms();
    EXPECT_GT(frames_of(folder, folder / "one.fwd.part"), too_few);
    served = std::make_unique<Served>(Words{"-i", camera.source(), "--record", folder / "two.fwd"}, nullptr, port);
    wait_for_viewers(*served, 2);
    go_on(recording);
    const auto seen = ended(crowd);
    expect_seen(seen["viewers"][0], at_ms + 1'000);
    EXPECT_EQ(seen["all"]["connections"], 2);
    for (const auto& arrival : seen["viewers"][0]["arrivals"])
        if (arrival[0] > at_ms) {
            tell("first picture after the server was killed", arrival[0].get<double>() - at_ms, "ms");
            break;
        }
    served->program().signal(SIGINT);
    EXPECT_EQ(served->program().wait().code, 128 + SIGINT);
    const auto recorded = recording.wait();
    EXPECT_EQ(recorded.code, 0) << recorded.err;
    EXPECT_GT(frames_of(folder, folder / "two.fwd"), too_few);
    EXPECT_GT(frames_of(folder, folder / "seen.fwd"), 2 * too_few);
}

TEST(Killed, SourceReachesConnectedViewersAfterARestart) {
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", "160x120", fps, free_port());
    Served served({"-i", camera.source(), "--reconnect", "forever", "--record", folder / "day.fwd", "--progress",
                   "json", "--log-level", "trace"});
    Crowd crowd(checking(served.url(), camera));
    wait_for_viewers(served, 1);
    go_on(served.program());
    const auto lost_ms = now_ms();
    camera.kill();
    ASSERT_TRUE(served.program().wait_for_err("reconnection attempt 5")) << served.program().err();
    camera.start();
    const auto begun_ms = now_ms();
    ASSERT_TRUE(served.program().wait_for_err("reconnected")) << served.program().err();
    go_on(served.program());
    const auto seen = ended(crowd);
    const auto& viewer = seen["viewers"][0];
    double back_ms = 0;
    for (const auto& arrival : viewer["arrivals"])
        if (arrival[0] > begun_ms) {
            back_ms = arrival[0];
            break;
        }
    tell("first picture after the source was restarted", back_ms - begun_ms, "ms");
    expect_seen(viewer, begun_ms, lost_ms, back_ms);
    EXPECT_EQ(seen["all"]["connections"], 1);
    EXPECT_GT(viewer["unstamped"].get<std::size_t>() + viewer["failed"].size(), 0u)
        << "the viewer did not show the loss";
    served.program().signal(SIGINT);
    EXPECT_EQ(served.program().wait().code, 128 + SIGINT);
    EXPECT_GT(frames_of(folder, folder / "day.fwd"), 2 * too_few);
}

}  // namespace
}  // namespace framewire::network
