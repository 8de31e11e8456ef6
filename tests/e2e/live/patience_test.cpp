// A source that goes away and comes back, while viewers stay; and what is shown of an address with a password in it.
#include "e2e/live/network_camera.hpp"
#include "e2e/program.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace framewire::e2e {
namespace patience_test {

using namespace std::chrono_literals;

// The frames of a file: the first pixel, on which a box around all of the picture lies, one inside of it, and the
// brightest value.
struct Seen {
    std::array<std::uint8_t, 3> corner, inside;
    int brightest;
    bool is_blue() const { return inside[0] > 200 && inside[2] < 60; }
    bool says_no_signal() const {
        return corner[0] < 20 && inside[0] < 20 && brightest > 200;  // blue in gray, darkened, under white words
    }
};

std::vector<Seen> frames_seen(const std::string& path, Shape& shape) {
    const auto source = open_source(path);
    shape = source->info().shape;
    HostImage image(shape);
    FrameTime time;
    std::vector<Seen> frames;
    while (source->read(image.view(), time)) {
        const auto view = image.view();
        int brightest = 0;
        for (int y = 0; y < shape.height; ++y)
            brightest = std::max<int>(brightest, *std::max_element(view.row(0, y), view.row(0, y) + 3 * shape.width));
        const auto pixel = [&](int x, int y) {
            const auto* values = view.row(0, y) + 3 * x;
            return std::array{values[0], values[1], values[2]};
        };
        frames.push_back({pixel(0, 0), pixel(10, 10), brightest});
    }
    return frames;
}

std::string served_at(const Program& serving) {
    const auto words = serving.err();
    const auto at = words.find(" at tcp://") + 4;
    return words.substr(at, words.find('\n', at) - at);
}

TEST(Patience, ViewersStayWhileTheSourceIsAway) {
    const TemporaryFolder folder;
    const int port = free_port();
    auto first = network_camera(port, "blue", "160x120");
    Program serving(framewire({"serve", "-i", fmt::format("tcp://me:geheim@127.0.0.1:{}?password=geheim", port), "-f",
                               "gray", "--listen", "127.0.0.1:0", "--mode", "lossless", "--detect", "--stats",
                               folder / "serve.json", "--log-level", "trace"}));
    ASSERT_TRUE(serving.wait_for_err("serving ")) << serving.err();
    Program viewer(framewire({"view", served_at(serving), "--no-window", "-o", folder / "seen.mkv", "--log-level",
                              "trace", "--progress", "json", "--stats", folder / "view.json"}));
    ASSERT_TRUE(viewer.wait_for_err("viewing ")) << viewer.err();
    ASSERT_TRUE(viewer.wait_for_frames(5)) << viewer.err();

    first.reset();  // killed
    ASSERT_TRUE(serving.wait_for_err("attempt 3 to get it back")) << serving.err();
    const auto second = network_camera(port, "white", "160x120");
    ASSERT_TRUE(serving.wait_for_err("back again")) << serving.err();
    ASSERT_TRUE(viewer.wait_for_frames(viewer.frames_told() + 20))
        << viewer.err();  // more than say "no signal" and may still be on their way
    serving.signal(SIGINT);
    const auto served = serving.wait();
    const auto viewed = viewer.wait();
    EXPECT_EQ(served.code, 130) << served.err;
    EXPECT_EQ(viewed.code, 0) << viewed.err;
    EXPECT_NE(viewed.err.find("0 reconnections"), std::string::npos) << viewed.err;

    Shape shape;
    const auto frames = frames_seen(folder / "seen.mkv", shape);
    EXPECT_EQ(shape, (Shape{1, 120, 160, 3}));
    ASSERT_FALSE(frames.empty());
    const auto away =
        std::find_if(frames.begin(), frames.end(), [](const Seen& seen) { return seen.says_no_signal(); });
    ASSERT_NE(away, frames.end());
    EXPECT_LT(frames.front().brightest, 60) << "blue in gray";
    EXPECT_GT(away - frames.begin(), 2);
    EXPECT_GT(frames.back().inside[0], 200) << "white";

    // Who is told of the source is not told how to get in.
    for (const auto& text : {served.err, viewed.err, contents(folder / "serve.json"), contents(folder / "view.json")}) {
        EXPECT_EQ(text.find("geheim"), std::string::npos) << text;
    }
    EXPECT_NE(served.err.find(fmt::format("***@127.0.0.1:{}", port)), std::string::npos) << served.err;
}

TEST(Patience, EndsWhenTheTimeIsOver) {
    const TemporaryFolder folder;
    const int port = free_port();
    auto source = network_camera(port, "blue", "64x48");
    // With a query, tcp:// is FFmpeg's; without, it is a framewire server.
    Program running(framewire({"run", "-i", fmt::format("tcp://127.0.0.1:{}?tcp_nodelay=1", port), "-o",
                               folder / "seen.mkv", "--reconnect", "1.5", "--progress", "json"}));
    ASSERT_TRUE(running.wait_for_err("\"frame\"")) << running.err();
    source.reset();
    const auto result = running.wait();
    EXPECT_EQ(result.code, 69) << result.err;
    EXPECT_NE(result.err.find("did not bring it back"), std::string::npos) << result.err;
    Shape shape;
    for (const auto& seen : frames_seen(folder / "seen.mkv", shape)) EXPECT_TRUE(seen.is_blue());  // as recorded so far
}

TEST(Patience, OfOtherLengthsIsRefused) {
    for (const auto* time : {"nan", "-1", "86401", "ever", ""}) {
        const auto result = run_framewire({"run", "-i", "synth", "-o", "x.mkv", std::string("--reconnect=") + time});
        EXPECT_EQ(result.code, 2) << result.err;
        EXPECT_NE(result.err.find(*time ? "a number of seconds from 0 to 86400, or forever" : "--reconnect needs"),
                  std::string::npos)
            << result.err;
    }
}

// The picture shows the address as everybody may know it.
TEST(Patience, NoPasswordIsInThePicture) {
    const TemporaryFolder folder;
    const int port = free_port();
    std::string pictures[2];
    for (const bool with_password : {false, true}) {
        const auto source = network_camera(port, "blue", "640x48");
        const auto user = with_password ? "me:geheim@" : "***@";
        const auto result = run_framewire({"run", "-i", fmt::format("tcp://{}127.0.0.1:{}?tcp_nodelay=1", user, port),
                                           "-f", "text='{source}':size=16", "-o", folder / "out.bgr", "-y", "--frames",
                                           "3", "--stats", folder / "stats.json"});
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_EQ(result.err.find("geheim"), std::string::npos) << result.err;
        EXPECT_EQ(contents(folder / "stats.json").find("geheim"), std::string::npos);
        pictures[with_password] = contents(folder / "out.bgr");
    }
    EXPECT_FALSE(pictures[0].empty());
    EXPECT_EQ(pictures[0], pictures[1]);
}

}  // namespace patience_test
}  // namespace framewire::e2e
