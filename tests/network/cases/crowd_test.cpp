// Tests many viewers of one camera: one of them is stopped, and many connect and disconnect.

#include "network/cases/rig.hpp"
#include "network/load/report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>
#include <vector>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;
using std::chrono::duration;

// Maximum number of times to repeat a measurement that a busy machine can spoil.
constexpr int tries = 3;

struct Moved {
    double before_ms, after_ms;  // 99th percentiles of all other viewers, in milliseconds
    double grown_bytes;
    Json seen;
};

// Runs a crowd beside a viewer that is stopped halfway.
Moved stop_one_viewer(int viewers, const std::string& size, double fps, double half_seconds) {
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", size, fps);
    Served served({"-i", camera.source(), "--viewers", "1000"});
    e2e::Program stopped(view_command({served.url()}));
    const auto begin_ms = now_ms() + 1'500;  // all viewers are connected by then
    const auto half_ms = begin_ms + 1e3 * half_seconds, end_ms = half_ms + 1e3 * half_seconds;
    Crowd crowd({served.url() + "," + camera.log(), fmt::format("viewers={}", viewers - 1), "arrivals=1",
                 fmt::format("seconds={}", (end_ms - now_ms()) / 1e3)});
    const duration<double, std::milli> first_half(half_ms - now_ms());
    std::this_thread::sleep_for(first_half);
    const auto before_bytes = resident_bytes(served.program().id());
    stopped.signal(SIGSTOP);
    Moved moved{0, 0, 0, crowd.result()};
    moved.grown_bytes = resident_bytes(served.program().id()) - before_bytes;
    std::vector<double> before, after;
    for (const auto& viewer : moved.seen["viewers"]) {
        const auto first = latencies(viewer, begin_ms, half_ms), second = latencies(viewer, half_ms, end_ms);
        before.insert(before.end(), first.begin(), first.end());
        after.insert(after.end(), second.begin(), second.end());
    }
    moved.before_ms = percentile(before, 0.99);
    moved.after_ms = percentile(after, 0.99);
    EXPECT_GT(after.size(), before.size() / 2);
    return moved;
}

TEST(Crowd, AStoppedViewerDoesNotDelayTheOthers) {
    const double fps = scaled(20.0, 30.0);
    const int viewers = scaled(30, 200);
    Moved moved{};
    for (int i = 0; i < tries; ++i) {
        moved = stop_one_viewer(viewers, scaled("320x240", "1280x720"), fps, scaled(3.0, 20.0));
        EXPECT_EQ(moved.seen["all"]["errors"], Json::array());
        tell("viewers", viewers, "");
        tell("states of all viewers", moved.seen["all"]["states"], "");
        tell("versions skipped by all viewers", moved.seen["all"]["skipped"], "");
        tell("latency of all viewers, p50", moved.seen["all"]["latency_ms"]["p50"], "ms");
        tell("latency before, p99", moved.before_ms, "ms");
        tell("latency with a stopped viewer, p99", moved.after_ms, "ms");
        tell("growth of the server's memory", moved.grown_bytes / 1e6, "MB");
        if (moved.after_ms - moved.before_ms < 1e3 / fps) break;
    }
    EXPECT_LT(moved.after_ms - moved.before_ms, 1e3 / fps) << "latency increased by more than a frame period";
    EXPECT_LT(moved.grown_bytes, 16e6);
}

TEST(Crowd, ConnectingAndDisconnectingLeaksNothing) {
    constexpr int cameras = 4;
    const e2e::TemporaryFolder folder;
    std::vector<std::unique_ptr<Camera>> all;
    std::vector<std::unique_ptr<Served>> servers;
    Words words{"viewers=50", "stay=2", fmt::format("seconds={}", scaled(12.0, 600.0))};
    for (int i = 0; i < cameras; ++i) {
        all.push_back(std::make_unique<Camera>(folder, fmt::format("cam{}", i), scaled("160x120", "640x360"), 10));
        servers.push_back(std::make_unique<Served>(Words{"-i", all.back()->source(), "--viewers", "200"}));
        words.push_back(servers.back()->url());
    }
    const auto resident = [&] {
        double bytes = 0;
        for (const auto& server : servers) bytes += resident_bytes(server->program().id());
        return bytes;
    };
    Crowd crowd(words);
    const duration<double> first_minute(scaled(4.0, 60.0));
    std::this_thread::sleep_for(first_minute);
    const auto begun = resident();
    const auto seen = crowd.result();
    const auto grown = (resident() - begun) / begun;
    tell("connections", seen["all"]["connections"], "");
    tell("memory after the first minute", begun / 1e6, "MB");
    tell("growth of the memory", 100 * grown, "%");
    EXPECT_EQ(seen["all"]["errors"], Json::array());
    EXPECT_GT(seen["all"]["connections"], scaled(100, 5'000));
    for (const auto& viewer : seen["viewers"]) EXPECT_GT(viewer["states"], 0);
    EXPECT_LT(grown, scaled(0.1, 0.02));
}

}  // namespace
}  // namespace framewire::network
