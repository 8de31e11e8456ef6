// Standard video of `serve`, read by programs that people use.

#include "e2e/live/flashes.hpp"
#include "e2e/program.hpp"
#include "e2e/shell.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

constexpr int width = 640, height = 360;
const std::string chart = fmt::format("lavfi:smptebars=size={}x{}:rate=30", width, height);

class VideoServer {
public:
    explicit VideoServer(std::vector<std::string> more, const std::string& source = chart)
        : serving_(arguments(std::move(more), source)) {
        EXPECT_TRUE(serving_.wait_for_err("in a browser: http://")) << serving_.err();
        const auto words = serving_.err();
        const auto begin = words.find("http://");
        url_ = words.substr(begin, words.find("/\n", begin) - begin);
        EXPECT_TRUE(becomes_true([&] { return status("/readyz") == "200"; })) << serving_.err();
    }

    const std::string& url() const { return url_; }
    std::string said() const { return serving_.err(); }
    std::string get(const std::string& path, const std::string& more = "") const {
        return printed_by(fmt::format("curl -sS --max-time 20 {} '{}{}'", more, url_, path));
    }
    std::string status(const std::string& path, const std::string& more = "") const {
        return get(path, "-o /dev/null -w '%{http_code}' " + more);
    }
    Json video() const { return Json::parse(get("/api/stats"))["cameras"]["door"]["video"]; }
    // Covers the whole picture with a privacy mask.
    void mask() const {
        const auto zones =
            fmt::format(R"({{"zones":[{{"kind":"privacy","x":0,"y":0,"width":{},"height":{}}}]}})", width, height);
        const auto answer =
            get("/api/cameras/door/zones", "-X PUT -H 'Content-Type: application/json' -d '" + zones + "'");
        EXPECT_EQ(Json::parse(answer)["zones"].size(), 1) << answer;
    }

private:
    static std::vector<std::string> arguments(std::vector<std::string> more, const std::string& source) {
        std::vector<std::string> all{"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "-i", "door=" + source};
        all.insert(all.end(), more.begin(), more.end());
        return framewire(std::move(all));
    }

    Program serving_;
    std::string url_;
};

// Raw B, G, R frames.
struct Frames {
    int width, height;
    std::string bytes;

    std::size_t frame_bytes() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3; }
    std::size_t count() const { return bytes.size() / frame_bytes(); }
    // Returns the mean of 16x16 pixels around a point.
    std::array<double, 3> mean(std::size_t frame, int x, int y) const {
        constexpr int side = 16;
        std::array<double, 3> mean{};
        for (int dy = 0; dy < side; ++dy)
            for (int dx = 0; dx < side; ++dx)
                for (std::size_t channel = 0; channel < 3; ++channel) {
                    const auto at = (y - side / 2 + dy) * width + x - side / 2 + dx;
                    mean[channel] += static_cast<unsigned char>(
                                         bytes[frame * frame_bytes() + static_cast<std::size_t>(at) * 3 + channel]) /
                                     double{side * side};
                }
        return mean;
    }
    // Returns the largest difference from a frame of the same aspect ratio, in the middles of the chart's seven bars.
    double difference(const Frames& other) const {
        double most = 0;
        for (int bar = 0; bar < 7; ++bar) {
            const auto mine = mean(0, (2 * bar + 1) * width / 14, height / 3),
                       theirs = other.mean(0, (2 * bar + 1) * other.width / 14, other.height / 3);
            for (std::size_t channel = 0; channel < 3; ++channel)
                most = std::max(most, std::abs(mine[channel] - theirs[channel]));
        }
        return most;
    }
    bool is_black(std::size_t frame) const {
        const auto* begin = bytes.data() + frame * frame_bytes();
        return std::all_of(begin, begin + frame_bytes(),
                           [](char byte) { return static_cast<unsigned char>(byte) < 12; });
    }
};

// Returns the first frames of a file or an address, as FFmpeg decodes them.
Frames frames_of(const std::string& input, int count, int frame_width = width, int frame_height = height) {
    const TemporaryFolder folder;
    const auto raw = folder / "frames.bgr";
    const auto said =
        printed_by(fmt::format("ffmpeg -nostdin -v error -i '{}' -frames:v {} -fps_mode passthrough "
                               "-pix_fmt bgr24 -f rawvideo {}",
                               input, count, raw));
    Frames frames{frame_width, frame_height, contents(raw)};
    EXPECT_GE(frames.count(), 1) << said;
    return frames;
}

// Returns what ffprobe prints for the video stream. It lists streams of HLS twice.
std::string stream_of(const std::string& address, const std::string& entries) {
    const auto words = probed(address, "stream=" + entries);
    return words.substr(0, words.find('\n'));
}

// Returns the times of the packets of the first seconds.
std::vector<double> times_of(const std::string& address, int seconds) {
    std::istringstream lines(probed(address, "packet=pts_time", fmt::format("-read_intervals %+{}", seconds)));
    std::vector<double> times;
    for (std::string line; std::getline(lines, line);) times.push_back(std::strtod(line.c_str(), nullptr));
    return times;
}

TEST(Video, FfmpegReadsTheRightColoursSizeAndRate) {
    const TemporaryFolder folder;
    const VideoServer server({"--video"});
    ASSERT_EQ(server.get("/door/snapshot.png", "-o " + folder / "door.png"), "");
    const auto seen = frames_of(folder / "door.png", 1);
    for (const std::string path : {"/door/stream.mp4", "/door/index.m3u8"}) {
        EXPECT_EQ(stream_of(server.url() + path, "codec_name,width,height"), "h264,640,360") << path;
        EXPECT_LE(frames_of(server.url() + path, 1).difference(seen), 6) << path;
        const auto small = path + "?width=320";
        EXPECT_EQ(stream_of(server.url() + small, "width,height"), "320,180") << small;
        EXPECT_LE(frames_of(server.url() + small, 1, 320, 180).difference(seen), 6) << small;
    }
    const auto times = times_of(server.url() + "/door/stream.mp4", 3);
    ASSERT_GE(times.size(), 60);
    EXPECT_LE(times.front(), 0.001);
    EXPECT_NEAR(static_cast<double>(times.size() - 1) / (times.back() - times.front()), 30, 5);
    const auto slow = times_of(server.url() + "/door/stream.mp4?max-rate=10", 3);
    ASSERT_GE(slow.size(), 10);
    EXPECT_NEAR(static_cast<double>(slow.size() - 1) / (slow.back() - slow.front()), 10, 2.5);
}

TEST(Video, TwentyClientsCostOneEncode) {
    const TemporaryFolder folder;
    const VideoServer server({"--video", "bitrate=1M"});
    EXPECT_EQ(server.video()["encoders"], 0);
    {
        std::vector<std::unique_ptr<Program>> clients;
        for (int i = 0; i < 20; ++i)
            clients.push_back(std::make_unique<Program>(std::vector<std::string>{
                "curl", "-sN", "-o", folder / fmt::format("{}.mp4", i), server.url() + "/door/stream.mp4"}));
        EXPECT_TRUE(becomes_true([&] { return server.video()["mp4_clients"] == 20; })) << server.video();
        const auto before = server.video()["frames"].get<int>();
        EXPECT_TRUE(becomes_true([&] { return server.video()["frames"] >= before + 60; }));
        const auto video = server.video();
        EXPECT_EQ(video["encoders"], 1) << video;
        EXPECT_EQ(video["subscribers"], 1) << video;
        EXPECT_EQ(video["encoder"], "libx264") << video;
        EXPECT_EQ(video["failure"], nullptr) << video;
        EXPECT_NE(server.get("/metrics").find("framewire_video_mp4_clients{camera=\"door\"} 20\n"), std::string::npos);
    }
    for (int i = 0; i < 20; ++i) EXPECT_GE(frames_in(folder / fmt::format("{}.mp4", i)), 55) << i;
    EXPECT_TRUE(becomes_true([&] { return server.video()["encoders"] == 0; })) << "nobody watches any more";
}

// A client that stops reading is disconnected, and the other one misses nothing meanwhile.
TEST(Video, StuckClientCostsNobodyElse) {
    const TemporaryFolder folder;
    const VideoServer server({"--video", "crf=1:preset=ultrafast"}, "synth:size=640x360:fps=30");
    const auto client = [&](const std::string& name) {
        return std::make_unique<Program>(
            std::vector<std::string>{"curl", "-sN", "-o", folder / (name + ".mp4"), server.url() + "/door/stream.mp4"});
    };
    const auto clients_are = [&](int count) {
        return becomes_true([&] { return server.video()["mp4_clients"] == count; });
    };
    const auto stuck = client("stuck");
    ASSERT_TRUE(clients_are(1));
    stuck->signal(SIGSTOP);
    const auto other = client("other");
    ASSERT_TRUE(clients_are(2));
    const auto frames = [&] { return server.video()["frames"].get<int>(); };
    const auto before = frames();
    EXPECT_TRUE(clients_are(1)) << "the stuck client is still connected";
    const auto encoded = frames() - before;
    EXPECT_GE(encoded, 30);
    other->signal(SIGTERM);
    stuck->signal(SIGCONT);
    EXPECT_GE(frames_in(folder / "other.mp4"), encoded - 10) << "the last ones may not have arrived";
    EXPECT_EQ(server.video()["skipped"], 0);
}

// A client that connects after the mask sees nothing else, and for a connected one nothing else follows a masked frame.
TEST(Video, MasksHoldOnEveryRoute) {
    const TemporaryFolder folder;
    const VideoServer server({"--video", "--controls"});
    const auto file = folder / "connected.mp4";
    const Program connected({"curl", "-sN", "-o", file, server.url() + "/door/stream.mp4"});
    for (const auto* path : {"/door/stream.mp4", "/door/index.m3u8"})
        EXPECT_FALSE(frames_of(server.url() + path, 1).is_black(0)) << path;
    server.mask();
    for (const auto* path : {"/door/stream.mp4", "/door/index.m3u8", "/door/stream.mp4?width=320"}) {
        const bool is_small = std::string(path).ends_with("320");
        const auto frames =
            frames_of(server.url() + path, 10, is_small ? width / 2 : width, is_small ? height / 2 : height);
        for (std::size_t i = 0; i < frames.count(); ++i) EXPECT_TRUE(frames.is_black(i)) << path << " " << i;
    }
    connected.signal(SIGTERM);
    const auto frames = frames_of(file, 100'000);
    std::size_t first = 0;
    while (first < frames.count() && !frames.is_black(first)) ++first;
    EXPECT_GT(first, 0);
    EXPECT_LT(first, frames.count());
    for (auto i = first; i < frames.count(); ++i) EXPECT_TRUE(frames.is_black(i)) << i << " of " << frames.count();
}

TEST(Video, NeedsTheTokenAndTheRightHost) {
    const TemporaryFolder folder;
    std::ofstream(folder / "token") << "correct-horse-battery-staple\n";
    ASSERT_EQ(std::system(("chmod 600 " + folder / "token").c_str()), 0);
    const VideoServer server({"--video", "--token-file", folder / "token"});
    const std::string token = "-H 'Authorization: Bearer correct-horse-battery-staple' ";
    const auto playlist = server.get("/door/index.m3u8", token);
    EXPECT_TRUE(playlist.starts_with("#EXTM3U")) << playlist;
    EXPECT_EQ(playlist.find("staple"), std::string::npos);
    const auto segment =
        "/door/" + playlist.substr(playlist.find("hls/1"), playlist.find(".0.mp4") + 6 - playlist.find("hls/1"));
    EXPECT_EQ(server.status(segment, token), "200") << segment;
    for (const auto& path : {std::string("/door/stream.mp4"), std::string("/door/index.m3u8"), segment,
                             std::string("/door/hls/init-1.mp4")}) {
        EXPECT_EQ(server.status(path), "401") << path;
        EXPECT_EQ(server.status(path, "-H 'Authorization: Bearer wrong-horse-battery-staple'"), "401") << path;
        EXPECT_EQ(server.status(path, token + "-H 'Host: elsewhere.example'"), "421") << path;
        EXPECT_EQ(server.status(path, token + "-X POST"), "405") << path;
    }
    // FFmpeg takes the token as the password, for the segments too.
    auto with_token = server.url();
    with_token.insert(std::string("http://").size(), "me:correct-horse-battery-staple@");
    EXPECT_EQ(stream_of(with_token + "/door/index.m3u8", "codec_name"), "h264");
    EXPECT_EQ(stream_of(with_token + "/door/stream.mp4", "codec_name"), "h264");
}

TEST(Video, SaysWhatIsAllowed) {
    const VideoServer without({});
    for (const auto* path : {"/door/stream.mp4", "/door/index.m3u8", "/door/hls/1.mp4"})
        EXPECT_NE(without.get(path).find("serve --video"), std::string::npos) << path;
    EXPECT_EQ(without.video(), nullptr);
    const VideoServer server({"--video"});
    for (const auto* path : {"/door/stream.mp4?width=7", "/door/stream.mp4?max-rate=x", "/door/index.m3u8?_HLS_msn=x"})
        EXPECT_EQ(server.status(path), "400") << path;
    EXPECT_EQ(server.status("/attic/stream.mp4"), "404");
    EXPECT_EQ(server.status("/door/hls/1.mp4"), "404");

    const auto refused = [](const std::string& video, const std::string& text) {
        const auto result = run_framewire({"serve", "-i", "synth", "--listen", "127.0.0.1:0", "--video", video});
        EXPECT_NE(result.err.find(text), std::string::npos) << video << ": " << result.err;
        return result.code;
    };
    EXPECT_EQ(refused("codec=libx265", "does not encode H.264"), 2);
    EXPECT_EQ(refused("codec=nonsense", "'nonsense' is not a video encoder"), 2);
    EXPECT_EQ(refused("bitrate=fast", "bitrate 'fast' is not a bit rate; allowed: 1k to 2G"), 2);
    EXPECT_EQ(refused("bitrate=1M:crf=20", "crf and bitrate cannot be combined"), 2);
    EXPECT_EQ(refused("gop=0", "gop"), 2);
    EXPECT_EQ(refused("preset=slowest", "libx264"), 2);
    EXPECT_EQ(refused("gopp=5", "gop"), 2);
    const auto no_web = run_framewire({"serve", "-i", "synth", "--no-web", "--video"});
    EXPECT_EQ(no_web.code, 2);
    EXPECT_NE(no_web.err.find("--video cannot be combined with --no-web"), std::string::npos) << no_web.err;
}

class VideoSound : public testing::TestWithParam<std::array<std::string, 3>> {};

TEST_P(VideoSound, IsThatOfTheSource) {
    const auto& [name, options, codec] = GetParam();
    const TemporaryFolder folder;
    const auto source = make_flashes(folder / name, options);
    const VideoServer server({"--video", "--loop"}, source);
    printed_by(fmt::format("curl -sN --max-time 6 -o {} {}/door/stream.mp4", folder / "got.mp4", server.url()));
    EXPECT_TRUE(ffmpeg(fmt::format("-i {}/door/index.m3u8 -t 5 -c copy {}", server.url(), folder / "hls.mp4")));
    // MP4 has no ADTS headers.
    ASSERT_TRUE(ffmpeg(fmt::format("-i {} -c copy {}", source, folder / "copy.mp4")));
    const auto sums = packets_of(folder / "copy.mp4", "a", "data_hash");
    for (const auto& got : {folder / "got.mp4", folder / "hls.mp4"}) {
        EXPECT_EQ(probed(got, "stream=codec_name,sample_rate,channels", "-select_streams a:0"), codec + ",48000,1\n");
        // All packets are those of the source, in its order.
        const auto heard = packets_of(got, "a", "data_hash");
        ASSERT_GT(heard.size(), 100);
        std::size_t jumps = 0;
        for (std::size_t i = 1; i < heard.size(); ++i) {
            const auto before = std::find(sums.begin(), sums.end(), heard[i - 1]);
            ASSERT_NE(before, sums.end());
            // Silent packets are equal.
            if (std::count(sums.begin(), sums.end(), heard[i - 1]) == 1 && before + 1 != sums.end())
                jumps += *(before + 1) != heard[i];
        }
        EXPECT_LE(jumps, 4) << got;  // where the file starts over
        expect_together(got, 3);
    }
    EXPECT_EQ(probed(server.url() + "/door/stream.mp4?audio=0", "stream=codec_name"), "h264\n");
    EXPECT_EQ(server.status("/door/stream.mp4?audio=2"), "400");
}

INSTANTIATE_TEST_SUITE_P(Codecs, VideoSound,
                         testing::Values(std::array<std::string, 3>{"aac.mp4", "-c:a aac", "aac"},
                                         std::array<std::string, 3>{"adts.ts", "-c:a aac", "aac"},
                                         std::array<std::string, 3>{"opus.mkv", "-c:a libopus", "opus"}),
                         [](const auto& file) { return file.param[0].substr(0, file.param[0].find('.')); });

// Sound that pauses for 3 s ends no stream: silence takes its place.
TEST(Video, SoundThatPausesStopsNothing) {
    const TemporaryFolder folder;
    const auto source = make_flashes(folder / "pauses.mkv", "-c:a aac -bsf:a \"noise=drop='gt(n,94)*lt(n,236)'\"", 7);
    ASSERT_GT(longest_gap(packet_times(source, "a")), 2.9);
    const VideoServer server({"--video", "--loop"}, source);
    Program hls({"ffmpeg", "-nostdin", "-v", "error", "-i", server.url() + "/door/index.m3u8", "-t", "9", "-c", "copy",
                 folder / "hls.mp4"});
    printed_by(fmt::format("curl -sN --max-time 10 -o {} {}/door/stream.mp4", folder / "got.mp4", server.url()));
    EXPECT_EQ(hls.wait().code, 0) << hls.err();
    for (const auto& got : {folder / "got.mp4", folder / "hls.mp4"}) {
        for (const auto* streams : {"a", "v"}) {
            const auto times = packet_times(got, streams);
            ASSERT_GT(times.size(), 100) << got << streams;
            EXPECT_GT(times.back() - times.front(), 7) << got << streams;
            EXPECT_LT(longest_gap(times), 0.5) << got << streams;
        }
        // Silence decodes, too.
        EXPECT_EQ(printed_by("ffmpeg -nostdin -v error -xerror -i " + got + " -f null -"), "");
        expect_together(got, 2);
    }
}

// Sound whose header or rate is not allowed is left out with one line in the log, and the pictures go on.
TEST(Video, HostileSoundIsLeftOut) {
    const TemporaryFolder folder;
    const auto file = make_flashes(folder / "good.mkv", "-c:a aac", 1);
    // Matroska's CodecPrivate of the sound (0x63a2): its AudioSpecificConfig becomes one with a reserved rate.
    auto bytes = contents(file);
    const auto sound = bytes.find("A_AAC");
    ASSERT_NE(sound, std::string::npos);
    const auto header = bytes.find("\x63\xa2", sound);
    ASSERT_NE(header, std::string::npos);
    bytes.replace(header + 3, 2, "\x16\xf0");
    std::ofstream(folder / "bad.mkv", std::ios::binary) << bytes;
    const VideoServer server({"--video", "--loop"}, folder / "bad.mkv");
    EXPECT_EQ(probed(server.url() + "/door/stream.mp4", "stream=codec_name"), "h264\n");
    std::this_thread::sleep_for(std::chrono::seconds(2));  // the file starts over
    const auto said = server.said();
    const auto line = said.find("its sound (AAC) is not sent to clients: its header is not that of AAC");
    ASSERT_NE(line, std::string::npos) << said;
    EXPECT_EQ(said.find("is not sent to clients", line + 100), std::string::npos) << said;
}

TEST(Video, HasNoSoundWithNoAudio) {
    const TemporaryFolder folder;
    const auto source = make_flashes(folder / "aac.mp4", "-c:a aac");
    const VideoServer server({"--video", "--loop", "--no-audio"}, source);
    EXPECT_EQ(probed(server.url() + "/door/stream.mp4", "stream=codec_name"), "h264\n");
}

TEST(Video, Mp4HasNoG711) {
    const TemporaryFolder folder;
    const auto source = make_flashes(folder / "g711.mkv", "-c:a pcm_mulaw -ar 8000");
    const VideoServer server({"--video", "--loop"}, source);
    EXPECT_EQ(probed(server.url() + "/door/stream.mp4", "stream=codec_name"), "h264\n");
}

TEST(Video, IsAKeyOfTheConfiguration) {
    const TemporaryFolder folder;
    const auto file = folder / "cameras.yaml";
    const auto check = [&](const std::string& video) {
        std::ofstream(file) << "video: " << video << "\ncameras:\n  door:\n    source: synth\n";
        return run_framewire({"check", file});
    };
    for (const auto* right : {"true", "false", "codec=libx264:bitrate=2M:gop=30"})
        EXPECT_EQ(check(right).code, 0) << right;
    const auto wrong = check("codec=mpeg4");
    EXPECT_EQ(wrong.code, 78);
    EXPECT_NE(wrong.out.find(":1:"), std::string::npos) << wrong.out;
    EXPECT_NE(wrong.out.find("'mpeg4' does not encode H.264"), std::string::npos) << wrong.out;
    check("bitrate=500k");
    Program serving(framewire({"serve", "--config", file, "--listen", "127.0.0.1:0"}));
    ASSERT_TRUE(serving.wait_for_err("in a browser: http://")) << serving.err();
    const auto words = serving.err();
    const auto begin = words.find("http://");
    const auto url = words.substr(begin, words.find("/\n", begin) - begin);
    const auto is_ready = [&] {
        return printed_by("curl -s -o /dev/null -w '%{http_code}' " + url + "/readyz") == "200";
    };
    EXPECT_TRUE(becomes_true(is_ready)) << serving.err();
    EXPECT_EQ(stream_of(url + "/door/stream.mp4", "codec_name"), "h264");
}

}  // namespace
}  // namespace framewire::e2e
