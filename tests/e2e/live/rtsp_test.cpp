#include "e2e/live/flashes.hpp"
#include "e2e/program.hpp"
#include "e2e/shell.hpp"
#include "kit/needs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

const std::string token = "correct-horse-battery-staple";

// A chart of 4x3 patches of 64x64 pixels.
constexpr int patch_px = 64, columns = 4, rows = 3, width = columns * patch_px, height = rows * patch_px;
constexpr std::array<std::array<int, 3>, columns* rows> patches = {{{0, 0, 0},
                                                                    {255, 255, 255},
                                                                    {128, 128, 128},
                                                                    {0, 0, 255},
                                                                    {0, 255, 0},
                                                                    {255, 0, 0},
                                                                    {0, 255, 255},
                                                                    {255, 0, 255},
                                                                    {255, 255, 0},
                                                                    {60, 100, 180},
                                                                    {180, 60, 100},
                                                                    {100, 180, 60}}};

std::string chart() {
    std::string bytes;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (const int value : patches[static_cast<std::size_t>(y / patch_px * columns + x / patch_px)])
                bytes += static_cast<char>(value);
    return bytes;
}

// Returns the largest difference of a patch's mean from the chart, per channel and without the patches' borders.
// `picture` is BGR; 255 if it is too short.
double largest_difference(const std::string& picture) {
    if (picture.size() < std::size_t{width} * height * 3) return 255;
    constexpr int border = 8;
    double largest = 0;
    for (int patch = 0; patch < columns * rows; ++patch)
        for (int channel = 0; channel < 3; ++channel) {
            double sum = 0;
            for (int y = border; y < patch_px - border; ++y)
                for (int x = border; x < patch_px - border; ++x) {
                    const int row = patch / columns * patch_px + y, column = patch % columns * patch_px + x;
                    const auto at =
                        (std::size_t{width} * static_cast<std::size_t>(row) + static_cast<std::size_t>(column)) * 3 +
                        static_cast<std::size_t>(channel);
                    sum += static_cast<std::uint8_t>(picture[at]);
                }
            const double side = patch_px - 2 * border;
            const int wanted = patches[static_cast<std::size_t>(patch)][static_cast<std::size_t>(channel)];
            largest = std::max(largest, std::abs(sum / (side * side) - wanted));
        }
    return largest;
}

// A server that shows the chart, or another source, as camera `door`.
class RtspServing {
public:
    explicit RtspServing(const std::vector<std::string>& more = {}, const std::string& source = "") {
        std::ofstream(folder_ / "chart.bgr", std::ios::binary) << chart();
        std::ofstream(folder_ / "token") << token << '\n';
        EXPECT_EQ(std::system(("chmod 600 " + folder_ / "token").c_str()), 0);
        std::vector<std::string> all{"serve",
                                     "--backend",
                                     "cpu",
                                     "--listen",
                                     "127.0.0.1:0",
                                     "--rtsp",
                                     "127.0.0.1:0",
                                     "--loop",
                                     "-i",
                                     source.empty() ? fmt::format("door=raw:{}:size={}x{}:fps=20:format=bgr",
                                                                  folder_ / "chart.bgr", width, height)
                                                    : "door=" + source};
        for (const auto& one : more) all.push_back(one == "TOKEN" ? folder_ / "token" : one);
        serving_ = std::make_unique<Program>(framewire(all));
        EXPECT_TRUE(serving_->wait_for_err("in a browser: ")) << serving_->err();
        EXPECT_TRUE(becomes_true([&] { return printed_by("curl -sk '" + web("/readyz") + "'") == "ok\n"; }));
    }

    std::int64_t open_files() const {
        return std::distance(std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", serving_->id())), {});
    }
    std::string file(const std::string& name) const { return folder_ / name; }
    std::string web(const std::string& path) const { return word_after("in a browser: ", '/') + path; }
    // Returns the camera's address, with a password if one is given.
    std::string url(const std::string& password = "") const {
        auto url = word_after("over RTSP: ", '\n');
        if (!password.empty()) url.insert(url.find("//") + 2, "any:" + password + "@");
        return url;
    }
    // Returns the first picture that ffmpeg decodes, as BGR.
    std::string picture(const std::string& address, const std::string& transport = "tcp") const {
        const auto path = file("picture.bgr");
        std::remove(path.c_str());
        said_ =
            printed_by(fmt::format("ffmpeg -nostdin -v error -y -rtsp_transport {} -i '{}' -frames:v 1 -f rawvideo "
                                   "-pix_fmt bgr24 {}",
                                   transport, address, path));
        return std::ifstream(path) ? contents(path) : "";
    }
    const std::string& said() const { return said_; }

private:
    // Returns what the program has printed after `text`. The end is a line break, or the first '/' behind "//".
    std::string word_after(const std::string& text, char end) const {
        const auto words = serving_->err();
        const auto begin = words.find(text) + text.size();
        const auto from = end == '/' ? words.find("//", begin) + 2 : begin;
        return words.substr(begin, words.find(end, from) - begin);
    }

    TemporaryFolder folder_;
    std::unique_ptr<Program> serving_;
    mutable std::string said_;
};

TEST(Rtsp, FfmpegShowsTheRightColours) {
    const RtspServing serving;
    for (const auto* transport : {"tcp", "udp"})
        EXPECT_LE(largest_difference(serving.picture(serving.url(), transport)), 6) << transport << serving.said();
    EXPECT_EQ(serving.picture(serving.url() + "?width=128").size(), std::size_t{128 * 96 * 3}) << serving.said();
    EXPECT_EQ(probed(serving.url() + "?max-rate=5", "stream=codec_name,width,height", "-rtsp_transport tcp"),
              fmt::format("h264,{},{}\n", width, height));
}

TEST(Rtsp, GstreamerShowsTheRightColours) {
    FRAMEWIRE_NEEDS(printed_by("gst-inspect-1.0 avdec_h264 >/dev/null || echo missing").empty(),
                    "needs gst-launch-1.0 and avdec_h264 (Debian: gstreamer1.0-tools and gstreamer1.0-libav)");
    const RtspServing serving({"--token-file", "TOKEN"});
    for (const auto* transport : {"tcp", "udp"}) {
        const auto said = printed_by(fmt::format(
            "timeout 30 gst-launch-1.0 -q rtspsrc location={} latency=0 protocols={} ! rtph264depay ! avdec_h264 ! "
            "videoconvert ! video/x-raw,format=BGR ! identity eos-after=3 ! filesink location={}",
            serving.url(token), transport, serving.file(transport)));
        EXPECT_LE(largest_difference(contents(serving.file(transport))), 6) << transport << said;
    }
}

TEST(Rtsp, OpencvShowsTheRightColours) {
    const std::string python = "/usr/bin/python3";
    FRAMEWIRE_NEEDS(printed_by(python + " -c 'import cv2' || echo missing").empty(),
                    "needs OpenCV for Python (Debian: python3-opencv)");
    const RtspServing serving({"--token-file", "TOKEN"});
    const auto said =
        printed_by(fmt::format("{} -c 'import cv2; ok, frame = cv2.VideoCapture(\"{}\", "
                               "cv2.CAP_FFMPEG).read(); frame.tofile(\"{}\")'",
                               python, serving.url(token), serving.file("opencv.bgr")));
    EXPECT_LE(largest_difference(contents(serving.file("opencv.bgr"))), 6) << said;
}

// Records seconds of a stream without decoding it.
std::string recorded(const RtspServing& serving, const std::string& address, const std::string& name, int seconds = 6) {
    const auto path = serving.file(name);
    EXPECT_TRUE(ffmpeg(fmt::format("-rtsp_transport tcp -i '{}' -t {} -c copy {}", address, seconds, path)));
    return path;
}

class RtspSound : public testing::TestWithParam<std::array<std::string, 3>> {};

TEST_P(RtspSound, IsThatOfTheSource) {
    const auto& [name, options, codec] = GetParam();
    const TemporaryFolder folder;
    const auto source = make_flashes(folder / name, options);
    const RtspServing serving({}, source);
    const auto got = recorded(serving, serving.url(), "got.mkv");
    EXPECT_EQ(probed(got, "stream=codec_name"), "h264\n" + codec + "\n");
    expect_together(got, 4);
    EXPECT_LT(longest_gap(packet_times(got, "a")), 0.1);
    if (codec.starts_with("pcm")) {
        // RTP divides the samples into other packets.
        const auto samples_of = [&](const std::string& path) {
            EXPECT_TRUE(ffmpeg(fmt::format("-i {} -map 0:a -c copy -f {} {}.raw", path,
                                           codec == "pcm_mulaw" ? "mulaw" : "alaw", path)));
            return contents(path + ".raw");
        };
        const auto played = samples_of(source), heard = samples_of(got);
        constexpr std::size_t part = 1000;  // 1/8 s
        ASSERT_GE(heard.size(), 20 * part);
        std::size_t others = 0;
        for (std::size_t at = 0; at + part <= heard.size(); at += part)
            others += played.find(heard.substr(at, part)) == std::string::npos;
        EXPECT_LE(others, 3) << "where the file starts over";
    } else {
        ASSERT_TRUE(ffmpeg(fmt::format("-i {} -c copy {}", source, folder / "copy.mp4")));
        const auto played = packets_of(folder / "copy.mp4", "a", "data_hash"),
                   heard = packets_of(got, "a", "data_hash");
        ASSERT_GT(heard.size(), 100);
        std::size_t jumps = 0;
        for (std::size_t i = 1; i < heard.size(); ++i) {
            const auto before = std::ranges::find(played, heard[i - 1]);
            ASSERT_NE(before, played.end()) << i;
            // Silent packets are equal.
            if (std::ranges::count(played, heard[i - 1]) == 1 && before + 1 != played.end())
                jumps += *(before + 1) != heard[i];
        }
        EXPECT_LE(jumps, 4) << "where the file starts over";
    }
    EXPECT_EQ(probed(serving.url() + "?audio=0", "stream=codec_name", "-rtsp_transport tcp"), "h264\n");
    EXPECT_NE(probed(serving.url() + "?audio=2", "stream=codec_name", "-rtsp_transport tcp").find("400 Bad Request"),
              std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Codecs, RtspSound,
                         testing::Values(std::array<std::string, 3>{"aac.mp4", "-c:a aac", "aac"},
                                         std::array<std::string, 3>{"adts.ts", "-c:a aac -ac 2", "aac"},
                                         std::array<std::string, 3>{"opus.mkv", "-c:a libopus", "opus"},
                                         std::array<std::string, 3>{"mulaw.mkv", "-c:a pcm_mulaw -ar 8000",
                                                                    "pcm_mulaw"},
                                         std::array<std::string, 3>{"alaw.mkv", "-c:a pcm_alaw -ar 8000", "pcm_alaw"}),
                         [](const auto& file) { return file.param[0].substr(0, file.param[0].find('.')); });

// One client wants only the pictures, another one also the sound, and a third one comes later.
TEST(Rtsp, ClientsChooseTheirStreams) {
    const TemporaryFolder folder;
    const RtspServing serving({}, make_flashes(folder / "aac.mp4", "-c:a aac"));
    Program pictures({"ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "tcp", "-allowed_media_types", "video",
                      "-i", serving.url(), "-t", "10", "-c", "copy", serving.file("pictures.mkv")});
    EXPECT_TRUE(becomes_true([&] { return std::ifstream(serving.file("pictures.mkv")).good(); }));
    std::this_thread::sleep_for(std::chrono::seconds(3));  // more than the sound that may wait
    for (const auto* name : {"second.mkv", "third.mkv"}) {
        const auto got = recorded(serving, serving.url(), name, 4);
        EXPECT_EQ(probed(got, "stream=codec_name"), "h264\naac\n");
        expect_together(got, 2);
    }
    EXPECT_EQ(pictures.wait().code, 0) << pictures.err();
    EXPECT_EQ(probed(serving.file("pictures.mkv"), "stream=codec_name"), "h264\n");
    EXPECT_LT(longest_gap(packet_times(serving.file("pictures.mkv"), "v")), 0.5);
}

TEST(Rtsp, SoundThatPausesStopsNothing) {
    const TemporaryFolder folder;
    const auto source = make_flashes(folder / "pauses.mkv", "-c:a aac -bsf:a \"noise=drop='gt(n,94)*lt(n,236)'\"", 7);
    ASSERT_GT(longest_gap(packet_times(source, "a")), 2.9);
    const RtspServing serving({}, source);
    const auto got = recorded(serving, serving.url(), "got.mkv", 9);
    for (const auto* streams : {"a", "v"}) {
        const auto times = packet_times(got, streams);
        ASSERT_GT(times.size(), 100) << streams;
        EXPECT_GT(times.back() - times.front(), 8) << streams;
        EXPECT_LT(longest_gap(times), 0.5) << streams;
    }
    expect_together(got, 3);
}

TEST(Rtsp, HasNoSoundWithNoAudio) {
    const TemporaryFolder folder;
    const RtspServing serving({"--no-audio"}, make_flashes(folder / "aac.mp4", "-c:a aac"));
    EXPECT_EQ(probed(serving.url(), "stream=codec_name", "-rtsp_transport tcp"), "h264\n");
}

TEST(Rtsp, RequiresTheToken) {
    const RtspServing serving({"--token-file", "TOKEN"});
    for (const auto* wrong : {"", "not-the-right-token-at-all"}) {
        EXPECT_EQ(serving.picture(serving.url(wrong)), "") << wrong;
        EXPECT_NE(serving.said().find("401 Unauthorized"), std::string::npos) << serving.said();
    }
    EXPECT_LE(largest_difference(serving.picture(serving.url(token))), 6) << serving.said();
}

TEST(Rtsp, RunsOverTls) {
    const TemporaryFolder state;
    ::setenv("XDG_STATE_HOME", state.path().c_str(), 1);
    const RtspServing serving({"--token-file", "TOKEN", "--tls"});
    ::unsetenv("XDG_STATE_HOME");
    EXPECT_EQ(serving.url().rfind("rtsps://", 0), 0u) << serving.url();
    EXPECT_LE(largest_difference(serving.picture(serving.url(token))), 6) << serving.said();
    const auto plain = "rtsp" + serving.url(token).substr(std::string("rtsps").size());
    // Clients without TLS get nothing and leave nothing behind.
    const auto before = serving.open_files();
    for (int attempt = 0; attempt < 10; ++attempt) EXPECT_EQ(serving.picture(plain), "");
    EXPECT_LE(serving.open_files(), before + 3);
    // RTP over UDP would not be encrypted. ffmpeg does not even ask for it.
    FRAMEWIRE_NEEDS(printed_by("gst-inspect-1.0 rtspsrc >/dev/null || echo missing").empty(),
                    "needs gst-launch-1.0 (Debian: gstreamer1.0-tools and gstreamer1.0-plugins-good)");
    const auto said = [&](const std::string& transport) {
        return printed_by(
            fmt::format("timeout 30 gst-launch-1.0 rtspsrc location={} protocols={} tls-validation-flags=0 ! "
                        "identity eos-after=3 ! fakesink",
                        serving.url(token), transport));
    };
    EXPECT_NE(said("tcp").find("Got EOS"), std::string::npos) << said("tcp");
    EXPECT_NE(said("udp").find("No supported stream was found"), std::string::npos) << said("udp");
}

// A client that plays when a privacy mask is set, and one that comes later, get no picture without it after the reply.
TEST(Rtsp, PrivacyMasksHold) {
    const RtspServing serving({"--controls"});
    Program client({"ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "tcp", "-i", serving.url(), "-f",
                    "rawvideo", "-pix_fmt", "gray", "-y", serving.file("seen.gray")});
    constexpr std::size_t frame_bytes = std::size_t{width} * height;
    const auto frames = [&] {
        std::ifstream file(serving.file("seen.gray"), std::ios::binary | std::ios::ate);
        return file ? static_cast<std::size_t>(file.tellg()) / frame_bytes : 0;
    };
    ASSERT_TRUE(becomes_true([&] { return frames() > 5; })) << client.err();
    const auto zones =
        fmt::format(R"({{"zones":[{{"kind":"privacy","x":0,"y":0,"width":{},"height":{}}}]}})", width, height);
    printed_by(fmt::format("curl -sS -X PUT -H 'Content-Type: application/json' -d '{}' '{}'", zones,
                           serving.web("/api/cameras/door/zones")));
    const auto is_black = [](const std::string& picture) {
        return !picture.empty() &&
               std::ranges::all_of(picture, [](char value) { return static_cast<std::uint8_t>(value) < 8; });
    };
    EXPECT_TRUE(is_black(serving.picture(serving.url()))) << serving.said();
    ASSERT_TRUE(becomes_true([&, begin = frames()] { return frames() > begin + 20; }));
    client.signal(SIGKILL);
    client.wait();
    const auto seen = contents(serving.file("seen.gray"));
    // 20 pictures were sent after the reply; the decoder and the pipe hold a few more.
    EXPECT_TRUE(is_black(seen.substr((frames() - 10) * frame_bytes, 10 * frame_bytes)));
    EXPECT_FALSE(is_black(seen.substr(0, frame_bytes)));
}

TEST(Rtsp, TwentyClientsShareOneEncoder) {
    const RtspServing serving;
    std::vector<std::unique_ptr<Program>> clients;
    for (int number = 0; number < 20; ++number)
        clients.push_back(std::make_unique<Program>(
            std::vector<std::string>{"ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", number % 2 ? "tcp" : "udp",
                                     "-i", serving.url(), "-t", "4", "-c", "copy", "-f", "null", "-"}));
    const auto video = [&] {
        const auto stats = Json::parse(printed_by("curl -sS '" + serving.web("/api/stats") + "'"));
        return stats["cameras"]["door"]["video"];
    };
    EXPECT_TRUE(becomes_true([&] { return video()["subscribers"] == 1; })) << video();
    for (auto& client : clients) EXPECT_EQ(client->wait().code, 0) << client->err();
    EXPECT_TRUE(becomes_true([&] { return video()["subscribers"] == 0; })) << video();
}

TEST(Rtsp, RefusesWhatItCannotServe) {
    EXPECT_EQ(run_framewire({"serve", "-i", "synth", "--rtsp", "8554"}).code, 2);
    const RtspServing serving;
    const auto url = serving.url();
    const auto address = url.substr(7, url.find('/', 7) - 7);
    const auto second = run_framewire({"serve", "-i", "synth", "--listen", "127.0.0.1:0", "--rtsp", address});
    EXPECT_EQ(second.code, 78);
    EXPECT_NE(second.err.find("cannot serve RTSP at " + address), std::string::npos) << second.err;
}

}  // namespace
}  // namespace framewire::e2e
