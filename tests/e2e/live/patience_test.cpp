// Tests a source that disappears and returns while viewers stay connected, and how an address with a password is
// displayed.
#include "e2e/live/network_camera.hpp"
#include "e2e/program.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

// Samples of a frame: the first pixel, which the box around the whole picture covers, a pixel inside the box, and the
// brightest value.
struct Seen {
    std::array<std::uint8_t, 3> corner, inside;
    int brightest;
    bool is_blue() const { return inside[0] > 200 && inside[2] < 60; }
    bool is_blue_in_gray() const { return brightest < 60; }
    bool is_white() const { return inside[0] > 200; }
    bool says_no_signal() const {
        return corner[0] < 20 && inside[0] < 20 && brightest > 200;  // blue in gray, darkened, under white text
    }
};

Seen seen_in(const std::uint8_t* pixels, const Shape& shape) {
    const auto pixel = [&](int x, int y) {
        const auto* values = pixels + 3 * (std::ptrdiff_t{y} * shape.width + x);
        return std::array{values[0], values[1], values[2]};
    };
    return {pixel(0, 0), pixel(10, 10), *std::max_element(pixels, pixels + shape.bytes())};
}

std::vector<Seen> frames_seen(const std::string& path, Shape& shape) {
    const auto source = open_source(path);
    shape = source->info().shape;
    HostImage image(shape);
    FrameTime time;
    std::vector<Seen> frames;
    while (source->read(image.view(), time)) frames.push_back(seen_in(image.view().data(), shape));
    return frames;
}

// Returns the number of complete frames of a file of raw frames that may still grow.
std::int64_t raw_frames_in(const std::string& path, const Shape& shape) {
    return static_cast<std::int64_t>(std::filesystem::file_size(path)) / shape.bytes();
}

// Returns the last complete frame of such a file. Only this frame is read, because a file grows while it is read.
Seen last_raw_frame_seen(const std::string& path, const Shape& shape) {
    std::vector<char> bytes(static_cast<std::size_t>(shape.bytes()));
    std::ifstream file(path, std::ios::binary);
    file.seekg((raw_frames_in(path, shape) - 1) * shape.bytes());
    EXPECT_TRUE(file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) << "cannot read " << path;
    return seen_in(reinterpret_cast<const std::uint8_t*>(bytes.data()), shape);
}

// Returns all frames of a file of raw frames.
std::vector<Seen> raw_frames_seen(const std::string& path, const Shape& shape) {
    const auto bytes = contents(path);
    const auto frame_bytes = static_cast<std::size_t>(shape.bytes());
    std::vector<Seen> frames;
    for (std::size_t at = 0; at + frame_bytes <= bytes.size(); at += frame_bytes)
        frames.push_back(seen_in(reinterpret_cast<const std::uint8_t*>(bytes.data()) + at, shape));
    return frames;
}

std::string served_at(const Program& serving) {
    const auto words = serving.err();
    const auto at = words.find(" at tcp://") + 4;
    return words.substr(at, words.find('\n', at) - at);
}

TEST(Patience, ViewersStayWhileTheSourceIsDisconnected) {
    const TemporaryFolder folder;
    const Shape shape{1, 120, 160, 3};
    const int port = free_port();
    auto first = network_camera(port, "blue", "160x120");
    Program serving(framewire({"serve", "-i", fmt::format("tcp://me:geheim@127.0.0.1:{}?password=geheim", port), "-f",
                               "gray", "--listen", "127.0.0.1:0", "--mode", "lossless", "--detect", "--stats",
                               folder / "serve.json", "--log-level", "trace"}));
    ASSERT_TRUE(serving.wait_for_err("serving ")) << serving.err();
    Program viewer(framewire({"view", served_at(serving), "--no-window", "-o", folder / "seen.bgr", "--log-level",
                              "trace", "--stats", folder / "view.json"}));
    ASSERT_TRUE(viewer.wait_for_err("viewing ")) << viewer.err();
    EXPECT_NE(viewer.err().find(to_string(shape)), std::string::npos) << viewer.err();
    const auto viewer_sees = [&](bool (Seen::*what)() const) {
        const auto file = folder / "seen.bgr.part";
        return becomes_true([&] {
            if (!std::filesystem::exists(file) || raw_frames_in(file, shape) <= 3) return false;
            return (last_raw_frame_seen(file, shape).*what)();
        });
    };
    ASSERT_TRUE(viewer_sees(&Seen::is_blue_in_gray)) << viewer.err();

    first.reset();  // killed
    ASSERT_TRUE(serving.wait_for_err("reconnection attempt 3")) << serving.err();
    ASSERT_TRUE(viewer_sees(&Seen::says_no_signal)) << viewer.err();
    const auto second = network_camera(port, "white", "160x120");
    ASSERT_TRUE(serving.wait_for_err("reconnected")) << serving.err();
    ASSERT_TRUE(viewer_sees(&Seen::is_white)) << viewer.err();
    serving.signal(SIGINT);
    const auto served = serving.wait();
    const auto viewed = viewer.wait();
    EXPECT_EQ(served.code, 130) << served.err;
    EXPECT_EQ(viewed.code, 0) << viewed.err;
    EXPECT_NE(viewed.err.find("0 reconnections"), std::string::npos) << viewed.err;

    EXPECT_EQ(std::filesystem::file_size(folder / "seen.bgr") % static_cast<std::size_t>(shape.bytes()), 0u);
    const auto frames = raw_frames_seen(folder / "seen.bgr", shape);
    ASSERT_FALSE(frames.empty());
    const auto away = std::ranges::find_if(frames, &Seen::says_no_signal);
    ASSERT_NE(away, frames.end());
    EXPECT_GT(away - frames.begin(), 2);
    EXPECT_TRUE(std::all_of(frames.begin(), away, std::mem_fn(&Seen::is_blue_in_gray)));
    EXPECT_TRUE(frames.back().is_white());

    // Messages about the source do not reveal its password.
    for (const auto& text : {served.err, viewed.err, contents(folder / "serve.json"), contents(folder / "view.json")}) {
        EXPECT_EQ(text.find("geheim"), std::string::npos) << text;
    }
    EXPECT_NE(served.err.find(fmt::format("***@127.0.0.1:{}", port)), std::string::npos) << served.err;
}

// While the camera is lost, nothing enters, moves or crosses: the object that was inside leaves as gone when its track
// ends, and enters again as another one.
TEST(Patience, ObjectsOfALostCameraLeaveTheirZonesAsGone) {
    const TemporaryFolder folder;
    std::ofstream(folder / "zones.json") << R"({"zones":[{"name":"room","polygon":[[0,0],[1,0],[1,1],[0,1]]},)"
                                         << R"({"name":"edge","line":[[0.01,0],[0.01,1]]}]})";
    // A white square crosses the picture every five seconds, from the fifth second on.
    const std::string square =
        "color=gray:size=160x120:rate=10[room];color=white:size=40x40:rate=10[square];"
        "[room][square]overlay=x='mod(40*t,200)-40':y=40:enable='gte(t,4)'";
    const int port = free_port();
    auto first = network_camera(port, square);
    Program serving(
        framewire({"serve", "--backend", "cpu", "-i", fmt::format("tcp://127.0.0.1:{}?recv_buffer_size=65536", port),
                   "--listen", "127.0.0.1:0", "--detect", "--zones", folder / "zones.json"}));
    ASSERT_TRUE(serving.wait_for_err("in a browser: http://")) << serving.err();
    const auto words = serving.err();
    const auto page = words.find("http://");
    const auto url = words.substr(page, words.find("/\n", page) - page);
    const auto file = folder / "events";
    Program listener({"sh", "-c", fmt::format("exec curl -sN {}/api/events > {}", url, file)});
    const auto zone_events = [&] {
        std::vector<nlohmann::json> all;
        std::ifstream lines(file);
        for (std::string line; std::getline(lines, line) && !lines.eof();)
            if (line.starts_with("data: ") && line.find(R"("type":"zone")") != line.npos)
                all.push_back(nlohmann::json::parse(line.substr(line.find('{'))));
        return all;
    };
    const auto inside = [](const std::vector<nlohmann::json>& events) {
        std::set<int> tracks;
        for (const auto& event : events) {
            if (event["event"] == "enter") tracks.insert(event["track"].get<int>());
            if (event["event"] == "leave") tracks.erase(event["track"].get<int>());
        }
        return tracks.size();
    };
    ASSERT_TRUE(becomes_true([&] { return inside(zone_events()) > 0; })) << serving.err();
    first.reset();  // killed
    ASSERT_TRUE(serving.wait_for_err("reconnection attempt 3")) << serving.err();
    const auto before = zone_events().size();
    EXPECT_TRUE(becomes_true([&] { return inside(zone_events()) == 0; })) << serving.err();
    const auto away = zone_events();
    for (auto i = before; i < away.size(); ++i) {
        EXPECT_EQ(away[i]["event"], "leave") << away[i];
        EXPECT_EQ(away[i]["gone"], true) << away[i];
    }
    EXPECT_EQ(away.back()["event"], "leave");
    EXPECT_EQ(away.back()["gone"], true);
    const auto second = network_camera(port, square);
    ASSERT_TRUE(serving.wait_for_err("reconnected")) << serving.err();
    EXPECT_TRUE(becomes_true([&] { return inside(zone_events()) > 0; })) << serving.err();
    const auto events = zone_events();
    EXPECT_NE(events.back()["track"], away.back()["track"]);
    serving.signal(SIGINT);
    EXPECT_EQ(serving.wait().code, 130);
    listener.wait();
}

TEST(Patience, RunStopsAfterTheReconnectTimeout) {
    const TemporaryFolder folder;
    const int port = free_port();
    auto source = network_camera(port, "blue", "64x48");
    // FFmpeg handles tcp:// with a query; without one it is a framewire server.
    Program running(framewire({"run", "-i", fmt::format("tcp://127.0.0.1:{}?tcp_nodelay=1", port), "-o",
                               folder / "seen.mkv", "--reconnect", "1.5", "--progress", "json"}));
    ASSERT_TRUE(running.wait_for_err("\"frame\"")) << running.err();
    source.reset();
    const auto result = running.wait();
    EXPECT_EQ(result.code, 69) << result.err;
    EXPECT_NE(result.err.find("attempts to reconnect failed"), std::string::npos) << result.err;
    Shape shape;
    for (const auto& seen : frames_seen(folder / "seen.mkv", shape))
        EXPECT_TRUE(seen.is_blue());  // frames recorded so far
}

TEST(Patience, RejectsInvalidTimeouts) {
    for (const auto* time : {"nan", "-1", "86401", "ever", ""}) {
        const auto result = run_framewire({"run", "-i", "synth", "-o", "x.mkv", std::string("--reconnect=") + time});
        EXPECT_EQ(result.code, 2) << result.err;
        EXPECT_NE(result.err.find(*time ? "a number of seconds from 0 to 86400, or forever" : "--reconnect needs"),
                  std::string::npos)
            << result.err;
    }
}

// The text filter draws the source's address without its password.
TEST(Patience, PicturesDoNotShowThePassword) {
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

}  // namespace
}  // namespace framewire::e2e
