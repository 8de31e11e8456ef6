// Tests lines with loss, delay and little bandwidth: what viewers at their far end see, and when.

#include "kit/images.hpp"
#include "network/cases/rig.hpp"
#include "network/load/report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;
using std::chrono::duration;

// Waits while the line stays unchanged.
void let_pass(double ms) { std::this_thread::sleep_for(duration<double, std::milli>(ms)); }

// Returns the bits per second that one viewer of the stream receives on an unlimited line, after the first keyframe.
double bits_needed(const Served& served, const Link& link) {
    const auto bytes_of = [&](double seconds) {
        return Crowd({served.url(), fmt::format("seconds={}", seconds)}, &link).result()["all"]["bytes"].get<double>();
    };
    return (bytes_of(3) - bytes_of(1)) * 8 / 2;
}

TEST(BadLine, RecoversWithinASecondAfterAMinuteOfLowBandwidth) {
    const auto link = best_link();
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", scaled("320x240", "640x360"), 20);
    Served served({"-i", camera.source()}, link.get());
    const auto quick = line_settings("delay=10");
    link->set(quick);
    const auto needed = bits_needed(served, *link);
    tell("required bit rate", needed, "bit/s");

    // Before Linux 6.15, TCP may wait up to twice the duration of the outage before it retransmits.
    const double good_ms = 2'000, bad_ms = scaled(4e3, 60e3), after_ms = scaled(12'000, 4'000);
    Crowd crowd({served.url() + "," + camera.log(), "arrivals=1",
                 fmt::format("seconds={}", (good_ms + bad_ms + after_ms) / 1e3)},
                link.get());
    let_pass(good_ms);
    auto slow = quick;
    slow.bits_per_second = 0.05 * needed;
    link->set(slow);
    let_pass(bad_ms);
    link->set(quick);
    const auto full_ms = now_ms();
    const auto result = crowd.result();
    const auto& viewer = result["viewers"][0];
    EXPECT_EQ(viewer["errors"], Json::array());

    const auto before = latencies(viewer, full_ms - bad_ms - 1'000, full_ms - bad_ms);
    const auto during = latencies(viewer, full_ms - bad_ms, full_ms);
    tell("latency before, p99", percentile(before, 0.99), "ms");
    tell("states during the outage", static_cast<double>(during.size()), "");
    tell("latency during the outage, p50", percentile(during, 0.5), "ms");
    tell("latency during the outage, maximum", percentile(during, 1), "ms");
    // A sanitizer slows the server and the viewer so much that a frame takes longer than 200 ms on any line.
    const auto soon_ms = kit::brief() ? std::max(200.0, 4 * percentile(before, 0.99)) : 200.0;
    double recovered_ms = full_ms + after_ms;
    for (const auto& arrival : viewer["arrivals"])
        if (arrival[0] > full_ms && arrival[1] < soon_ms) {
            recovered_ms = arrival[0];
            break;
        }
    tell("time until the first punctual state", recovered_ms - full_ms, "ms");
    const auto begin_ms = std::max(full_ms + 1'000, scaled(recovered_ms, 0.0));
    const auto after = latencies(viewer, begin_ms, full_ms + after_ms);
    tell("latency after recovery, maximum", percentile(after, 1), "ms");
    EXPECT_GT(after.size(), kit::brief() ? 2u : 20u);
    EXPECT_LT(percentile(after, scaled(0.9, 1.0)), soon_ms);
}

// Returns the time from a late viewer's hello to the last byte of its first keyframe, with 100 ms of delay in each
// direction; the minimum over several viewers.
double late_viewer_ms(const std::string& size, double fps, int noise) {
    const auto link = best_link();
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", size, fps, {}, noise);
    Served served({"-i", camera.source()}, link.get());
    link->set(line_settings("delay=100"));
    Crowd early({served.url(), "seconds=20"}, link.get());  // makes sure that the late viewer is not the first one
    double best_ms = 1e9;
    for (int i = 0; i < 3; ++i) {
        const auto seen = Crowd({served.url(), "viewers=3", "seconds=2.5"}, link.get()).result();
        EXPECT_EQ(seen["all"]["errors"], Json::array());
        EXPECT_EQ(seen["all"]["first_state_ms"]["count"], 3);
        best_ms = std::min(best_ms, seen["all"]["first_state_ms"]["p50"].get<double>());
    }
    return best_ms;
}

// This holds for a keyframe that TCP sends in one burst. Of a larger one, TCP sends 14 kB in the first round trip and
// twice as much in each following one, which does not depend on the protocol.
TEST(BadLine, ALateViewerGetsAKeyframeWithinARoundTripAndAFrame) {
    constexpr double fps = 10, there_and_back_ms = 200;
    const auto best_ms = late_viewer_ms("160x120", fps, 0);
    tell("time from the hello to the whole keyframe", best_ms, "ms");
    tell("a round trip and a frame period", there_and_back_ms + 1e3 / fps, "ms");
    EXPECT_GE(best_ms, there_and_back_ms);
    EXPECT_LT(best_ms, there_and_back_ms + 1e3 / fps);
    if (long_cases())
        tell("time from the hello to the whole keyframe of 1280x720", late_viewer_ms("1280x720", 30, 4), "ms");
}

TEST(BadLine, PicturesStayWithinTheBoundAndArriveWithinASecond) {
    const auto link = best_link();
    const e2e::TemporaryFolder folder;
    Camera camera(folder, "cam", "320x240", 15);
    Served served({"-i", camera.source(), "--mode", "bounded", "--max-bitrate", "1M"}, link.get());
    auto line = line_settings("delay=50:rate=2M:queue=200");
    line.loss = link->can_lose() ? 0.05 : 0;
    link->set(line);
    const auto seen = Crowd({served.url() + "," + camera.log(), "viewers=0", "checking=1",
                             kit::brief() ? "window=30000" : "window=2500", fmt::format("seconds={}", scaled(6, 60))},
                            link.get())
                          .result();
    const auto& viewer = seen["viewers"][0];
    EXPECT_EQ(viewer["errors"], Json::array());
    tell("pictures checked", viewer["checked"], "");
    tell("latency, p50", viewer["latency_ms"]["p50"], "ms");
    tell("latency, p95", viewer["latency_ms"]["p95"], "ms");
    tell("latency, p99", viewer["latency_ms"]["p99"], "ms");
    tell("latency, maximum", viewer["latency_ms"]["max"], "ms");
    tell("largest age of a shown frame", viewer["oldest_age_ms"], "ms");
    EXPECT_GT(viewer["checked"], 10);
    // If TCP loses a packet twice, it takes longer than a second. The test therefore reports the maximum and limits a
    // high percentile.
    EXPECT_EQ(viewer["failed"].size(), 0u) << viewer["outside"] << " bytes outside the bound";
    // A sanitizer takes longer.
    if (!kit::brief()) {
        EXPECT_LT(viewer["latency_ms"][scaled("p95", "p99")], 1'000);
    }
}

}  // namespace
}  // namespace framewire::network
