#include "e2e/program.hpp"

#include "framewire/codec/packing.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/testing/test_tcp.hpp"
#include "framewire/net/wire.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

const std::string small_synth = "synth:size=160x120:fps=20:noise=0:objects=3:seed=3";
constexpr std::size_t small_bytes = 160 * 120 * 3;

std::vector<std::string> serve_arguments(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"serve", "--backend", "cpu", "--listen", "127.0.0.1:0"});
    return framewire(std::move(arguments));
}

// Running server and its URL.
class Serving {
public:
    explicit Serving(std::vector<std::string> arguments) : program_(serve_arguments(std::move(arguments))) {
        EXPECT_TRUE(program_.wait_for_err("serving ")) << program_.err();
        const auto words = program_.err();
        const auto begin = words.find("tcp://");
        url_ = words.substr(begin, words.find('\n', begin) - begin);
    }

    const std::string& url() const { return url_; }
    Program& program() { return program_; }

private:
    Program program_;
    std::string url_;
};

std::vector<std::string> view(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"view", "--no-window"});
    return framewire(std::move(arguments));
}

// Returns the frames of a recording, or of the output of `run` for a source, as consecutive raw bytes.
std::string raw_frames(const TemporaryFolder& folder, std::vector<std::string> input) {
    std::vector<std::string> arguments{"run", "-y", "--backend", "cpu", "-o", folder / "raw.bgr", "-i"};
    arguments.insert(arguments.end(), input.begin(), input.end());
    const auto result = run_framewire(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return contents(folder / "raw.bgr");
}

TEST(Serve, RecordingsOfThreeViewersEqualTheSource) {
    const TemporaryFolder folder;
    // The source is slow enough for the late viewer to connect before its end, and for viewers on a busy machine to
    // skip no frame. Under a sanitizer a viewer needs up to half a second per frame.
    const int fps = kit::brief() ? 1 : 4, frames = kit::brief() ? 12 : 24;
    const auto limit = std::to_string(frames);
    const std::string slow_synth = "synth:size=160x120:fps=" + std::to_string(fps) + ":noise=0:objects=3:seed=3";
    const auto source = raw_frames(folder, {slow_synth, "--frames", limit});
    Serving serving(
        {"-i", slow_synth, "--mode", "lossless", "--frames", limit, "--wait", "2", "--stats", folder / "serve.json"});
    Program first(
        view({serving.url(), "-o", folder / "first.mkv", "--progress", "json", "--stats", folder / "first.json"}));
    const auto over_websocket = "ws" + serving.url().substr(3);
    Program second(view({over_websocket, "-o", folder / "second.mkv"}));
    ASSERT_TRUE(first.wait_for_err("viewing")) << first.err();
    ASSERT_TRUE(second.wait_for_err("viewing")) << second.err();
    ASSERT_TRUE(first.wait_for_frames(2)) << first.err();
    Program late(view({serving.url(), "-o", folder / "late.mkv"}));

    for (auto* viewer : {&first, &second, &late}) {
        const auto result = viewer->wait();
        EXPECT_EQ(result.code, 0) << result.err;
    }
    const auto served = serving.program().wait();
    EXPECT_EQ(served.code, 0) << served.err;

    EXPECT_TRUE(raw_frames(folder, {folder / "first.mkv"}) == source);
    EXPECT_TRUE(raw_frames(folder, {folder / "second.mkv"}) == source);
    const auto seen_late = raw_frames(folder, {folder / "late.mkv"});
    EXPECT_GT(seen_late.size(), 0u);
    EXPECT_LT(seen_late.size(), source.size());
    ASSERT_EQ(seen_late.size() % small_bytes, 0u);
    EXPECT_TRUE(source.ends_with(seen_late));

    auto figures = Json::parse(contents(folder / "serve.json"));
    EXPECT_EQ(figures["frames"], frames);
    EXPECT_EQ(figures["drops"], 0);
    EXPECT_EQ(figures["max_error"], 0);
    EXPECT_TRUE(figures["psnr"].is_null());
    EXPECT_EQ(figures["raw_bytes"], source.size());
    EXPECT_LT(figures["sent_bytes"], figures["report_bytes"]);
    EXPECT_LT(figures["report_bytes"], figures["raw_bytes"]);
    auto viewed = Json::parse(contents(folder / "first.json"));
    EXPECT_EQ(viewed["frames"], frames);
    EXPECT_EQ(viewed["keyframes"], 1);
    EXPECT_EQ(viewed["delta_frames"], frames - 1);
    EXPECT_EQ(viewed["pictures"], viewed["keyframes"]) << "deprecated name of keyframes";
    EXPECT_EQ(viewed["steps"], viewed["delta_frames"]);
    EXPECT_EQ(viewed["skipped"], 0);
    EXPECT_GE(viewed["received_bytes"], figures["sent_bytes"]);
}

TEST(Serve, AcceptsDeprecatedOptionsWithOneWarningEach) {
    Serving serving({"-i", small_synth, "--refresh", "0", "--panel"});
    net::Client viewer(net::parse_stream_address(serving.url()));
    ASSERT_TRUE(viewer.next());
    EXPECT_TRUE(viewer.remote_control()) << "--panel accepts control requests";
    serving.program().signal(SIGTERM);
    const auto words = serving.program().wait().err;
    for (const char* warning : {"--refresh is deprecated and will be removed in the next release; use --refine",
                                "--panel is deprecated and will be removed in the next release; use --controls"}) {
        const auto at = words.find(warning);
        EXPECT_NE(at, std::string::npos) << words;
        EXPECT_EQ(words.rfind(warning), at) << words;
    }
    const auto help = run_framewire({"serve", "--help"}).out;
    for (const auto* name : {"--refresh", "--panel"}) EXPECT_EQ(help.find(name), std::string::npos) << name;
    for (const auto* name : {"--refine", "--controls"}) EXPECT_NE(help.find(name), std::string::npos) << name;
}

// In a lossless stream, the changes since the previous version equal the changes since the previous frame.
TEST(View, LosslessChangesEqualTheFilterOutput) {
    const TemporaryFolder folder;
    const auto picture_of = [&](const std::string& filter) {
        return raw_frames(folder, {small_synth, "--frames", "20", "-f", filter});
    };
    Serving serving({"-i", small_synth, "--mode", "lossless", "--frames", "20", "--wait", "3"});
    Program mask(view({serving.url(), "--changes", "mask", "-o", folder / "mask.bgr"}));
    Program overlay(view({serving.url(), "--changes", "overlay", "-o", folder / "overlay.bgr"}));
    Program heat(view({serving.url(), "--changes", "heat", "-o", folder / "heat.bgr"}));
    for (auto* viewer : {&mask, &overlay, &heat}) {
        const auto result = viewer->wait();
        EXPECT_EQ(result.code, 0) << result.err;
    }
    EXPECT_EQ(serving.program().wait().code, 0);
    EXPECT_TRUE(contents(folder / "mask.bgr") == picture_of("noise=0"));
    EXPECT_TRUE(contents(folder / "overlay.bgr") == picture_of("noise=0:mode=overlay"));
    EXPECT_TRUE(contents(folder / "heat.bgr") == picture_of("heatmap"));
}

TEST(View, ChangesInAGrayStreamAreShownInColour) {
    const TemporaryFolder folder;
    Serving serving({"-i", small_synth, "-f", "gray=channels=1", "--frames", "5", "--wait", "1"});
    const auto viewed = Program(view({serving.url(), "--changes", "heat", "-o", folder / "heat.bgr"})).wait();
    EXPECT_EQ(viewed.code, 0) << viewed.err;
    EXPECT_EQ(contents(folder / "heat.bgr").size(), 5 * small_bytes);
    EXPECT_EQ(Program(view({serving.url(), "--changes", "all"})).wait().code, 2);
}

// Returns the largest difference between the last frames of two recordings of the small source.
int largest_difference_of_last(const std::string& a, const std::string& b) {
    int largest = 0;
    for (std::size_t i = 1; i <= small_bytes; ++i)
        largest = std::max(
            largest, std::abs(static_cast<std::uint8_t>(a[a.size() - i]) - static_cast<std::uint8_t>(b[b.size() - i])));
    return largest;
}

TEST(Serve, ExactRecordingsStayWithinTheThreshold) {
    const TemporaryFolder folder;
    const std::vector<std::string> input{"synth:size=160x120:fps=20:noise=6:objects=3:seed=3"};
    auto limited = input;
    limited.insert(limited.end(), {"-f", "gray", "--frames", "20"});
    const auto source = raw_frames(folder, limited);
    Serving serving({"-i", input[0], "-f", "gray", "--threshold", "9", "--frames", "20", "--wait", "1"});
    Program viewer(view({serving.url(), "-o", folder / "seen.mkv"}));
    EXPECT_EQ(viewer.wait().code, 0);
    EXPECT_EQ(serving.program().wait().code, 0);
    const auto seen = raw_frames(folder, {folder / "seen.mkv"});
    // With this much noise, a viewer that is two frames late receives the newest picture instead, so the test compares
    // the last frames.
    ASSERT_GE(seen.size(), small_bytes);
    const int largest = largest_difference_of_last(seen, source);
    EXPECT_LE(largest, 9);
    EXPECT_GT(largest, 0);
}

// Bounded mode needs fewer bytes, but every byte is still within the threshold.
TEST(Serve, BoundedRecordingsStayWithinTheThreshold) {
    const TemporaryFolder folder;
    const std::vector<std::string> input{"synth:size=160x120:fps=20:noise=3:objects=3:seed=3", "--frames", "20"};
    const auto source = raw_frames(folder, input);
    double bytes[2];
    for (const std::string mode : {"exact", "bounded"}) {
        SCOPED_TRACE(mode);
        Serving serving({"-i", input[0], "--mode", mode, "--threshold", "12", "--frames", "20", "--wait", "1", "-y",
                         "--stats", folder / "serve.json"});
        Program viewer(view({serving.url(), "-o", folder / "seen.mkv", "-y"}));
        EXPECT_EQ(viewer.wait().code, 0);
        EXPECT_EQ(serving.program().wait().code, 0);
        const auto figures = Json::parse(contents(folder / "serve.json"));
        EXPECT_LE(figures["max_error"], 12);
        bytes[mode == "bounded"] = figures["sent_bytes"];
        const auto seen = raw_frames(folder, {folder / "seen.mkv"});
        ASSERT_GE(seen.size(), small_bytes);
        const int largest = largest_difference_of_last(seen, source);
        EXPECT_LE(largest, 12);
        EXPECT_GT(largest, 0);
    }
    EXPECT_LT(bytes[1], bytes[0] * 3 / 4) << "refinement does not save enough bytes";
}

// The server sends every frame here, so the rate holds however fast the frames are sent.
TEST(Serve, RaisesTheThresholdToHoldTheMaximumBitrate) {
    const TemporaryFolder folder;
    const std::string noisy = "synth:size=160x120:fps=20:noise=8:objects=3:seed=3";
    const auto serve = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"-i",     noisy,      "--mode", "bounded", "--threshold",
                                           "8",      "--frames", "200",    "--rate",  "max",
                                           "--wait", "1",        "-y",     "--stats", folder / "serve.json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        Serving serving(arguments);
        Program viewer(view({serving.url(), "-y", "--stats", folder / "view.json"}));
        EXPECT_EQ(viewer.wait().code, 0);
        const auto served = serving.program().wait();
        EXPECT_EQ(served.code, 0) << served.err;
        return std::pair(Json::parse(contents(folder / "serve.json")), served.err);
    };
    const auto [free, free_words] = serve({});
    EXPECT_EQ(free["threshold"], (Json{{"min", 8}, {"mean", 8.0}, {"max", 8}}));
    EXPECT_FALSE(free.contains("max_bitrate"));
    const double asked = free["bits_per_second"]["mean"].get<double>() / 4;

    const auto [held, held_words] = serve({"--max-bitrate", std::to_string(static_cast<int>(asked))});
    EXPECT_LE(held["bits_per_second"]["mean"], asked);
    EXPECT_GE(held["bits_per_second"]["mean"], 0.7 * asked);
    EXPECT_LE(held["bits_per_second"]["max"], 1.15 * asked);
    EXPECT_GE(held["threshold"]["min"], 8);
    EXPECT_GT(held["threshold"]["max"], 8);
    EXPECT_LE(held["max_error"], held["threshold"]["max"]);
    EXPECT_EQ(held["over"], 0);
    const auto viewed = Json::parse(contents(folder / "view.json"));
    EXPECT_EQ(viewed["threshold"], 64);
    const auto& in_force = viewed["threshold_in_force"];
    EXPECT_GT(in_force["last"], 8);
    EXPECT_LE(in_force["max"], held["threshold"]["max"]);

    const auto [over, over_words] = serve({"--max-bitrate", "20k", "--threshold-max", "10"});
    EXPECT_EQ(over["threshold"]["max"], 10);
    EXPECT_GT(over["over"], 100);
    const std::string warning = "the stream exceeds 0.02 Mbit/s even at threshold 10";
    const auto said = over_words.find(warning);
    ASSERT_NE(said, std::string::npos) << over_words;
    EXPECT_EQ(over_words.find(warning, said + 1), std::string::npos) << "the warning must be printed only once";
}

TEST(Serve, PlaysAFileAtItsOwnOrARequestedRate) {
    const auto seconds = [](const std::string& rate) {
        const TemporaryFolder folder;
        const auto result = Program(serve_arguments({"-i", small_synth, "--frames", "21", "--rate", rate, "--stats",
                                                     folder / "stats.json"}))
                                .wait();
        EXPECT_EQ(result.code, 0) << result.err;
        return Json::parse(contents(folder / "stats.json"))["seconds"].get<double>();
    };
    EXPECT_GE(seconds("own"), 0.99);
    EXPECT_GE(seconds("10"), 1.99);
    EXPECT_LT(seconds("max"), 0.9);
}

TEST(Serve, ReportsFilterResultsLikeRun) {
    const TemporaryFolder folder;
    const std::string chain = "gray=channels=1,binarize=fixed:level=77,mosaic=32";
    const auto served = Program(serve_arguments({"-i", small_synth, "-f", chain, "--frames", "3", "--rate", "max",
                                                 "--stats", folder / "serve.json"}))
                            .wait();
    EXPECT_EQ(served.code, 0) << served.err;
    const auto result = run_framewire({"run", "--backend", "cpu", "-i", small_synth, "-f", chain, "-o",
                                       folder / "out.gray", "--frames", "3", "--stats", folder / "run.json"});
    EXPECT_EQ(result.code, 0) << result.err;
    const auto found = Json::parse(contents(folder / "serve.json"))["filters"];
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0], (Json{{"filter", "binarize"}, {"threshold", 77.0}}));
    EXPECT_EQ(found[1]["filter"], "mosaic");
    EXPECT_EQ(found, Json::parse(contents(folder / "run.json"))["filters"]);
}

TEST(Serve, RepeatsAFileOnRequest) {
    const TemporaryFolder folder;
    ASSERT_EQ(run_framewire({"run", "-i", small_synth, "-o", folder / "clip.mkv", "--frames", "5"}).code, 0);
    Serving serving({"-i", folder / "clip.mkv", "--loop", "--mode", "lossless", "--wait", "1", "--frames", "13"});
    Program viewer(view({serving.url(), "-o", folder / "seen.mkv"}));
    EXPECT_EQ(viewer.wait().code, 0);
    EXPECT_EQ(serving.program().wait().code, 0);
    const auto clip = raw_frames(folder, {folder / "clip.mkv"});
    EXPECT_EQ(raw_frames(folder, {folder / "seen.mkv"}), clip + clip + clip.substr(0, 3 * small_bytes));
}

class ServeSignal : public testing::TestWithParam<int> {};

TEST_P(ServeSignal, ViewersExitCleanlyWithTheServer) {
    const TemporaryFolder folder;
    Serving serving({"-i", small_synth, "--wait", "1", "--stats", folder / "serve.json"});
    Program viewer(view({serving.url(), "-o", folder / "seen.mkv", "--progress", "json"}));
    ASSERT_TRUE(viewer.wait_for_err("\"frame\":")) << viewer.err();
    serving.program().signal(GetParam());
    const auto served = serving.program().wait();
    EXPECT_EQ(served.code, 128 + GetParam()) << served.err;
    const auto viewed = viewer.wait();
    EXPECT_EQ(viewed.code, 0) << viewed.err;
    const auto frames = Json::parse(contents(folder / "serve.json"))["frames"].get<int>();
    EXPECT_EQ(frames_in(folder / "seen.mkv"), frames);
}

TEST_P(ServeSignal, AStoppedViewerLeavesACompleteRecording) {
    const TemporaryFolder folder;
    Serving serving({"-i", small_synth});
    Program viewer(view({serving.url(), "-o", folder / "seen.mkv", "--progress", "json"}));
    ASSERT_TRUE(viewer.wait_for_err("\"frame\":")) << viewer.err();
    viewer.signal(GetParam());
    const auto viewed = viewer.wait();
    EXPECT_EQ(viewed.code, 128 + GetParam()) << viewed.err;
    EXPECT_GT(frames_in(folder / "seen.mkv"), 0);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"seen.mkv"}));
}

INSTANTIATE_TEST_SUITE_P(Both, ServeSignal, testing::Values(SIGINT, SIGTERM));

TEST(Serve, ReportsABrokenSourceToViewers) {
    const TemporaryFolder folder;
    ASSERT_EQ(run_framewire({"run", "-i", small_synth, "-o", folder / "whole.y4m", "--frames", "10"}).code, 0);
    auto bytes = contents(folder / "whole.y4m");
    bytes.resize(bytes.size() - 100);
    std::ofstream(folder / "cut.y4m", std::ios::binary) << bytes;
    Serving serving({"-i", folder / "cut.y4m", "--wait", "1"});
    Program viewer(view({serving.url(), "-o", folder / "seen.mkv"}));
    const auto viewed = viewer.wait();
    EXPECT_EQ(viewed.code, 69) << viewed.err;
    EXPECT_NE(viewed.err.find("the source was lost"), std::string::npos) << viewed.err;
    EXPECT_EQ(serving.program().wait().code, 69);
    EXPECT_EQ(frames_in(folder / "seen.mkv"), 9);
}

TEST(View, StopsAfterTheGivenNumberOfFrames) {
    const TemporaryFolder folder;
    Serving serving({"-i", small_synth, "--name", "yard"});
    EXPECT_NE(serving.url().find("/yard"), std::string::npos);
    const auto picture = Program(view({serving.url(), "--frames", "1", "-o", folder / "seen.png"})).wait();
    EXPECT_EQ(picture.code, 0) << picture.err;
    EXPECT_EQ(frames_in(folder / "seen.png"), 1);
    const auto counted = Program(view({serving.url(), "--frames", "5", "--stats", folder / "view.json"})).wait();
    EXPECT_EQ(counted.code, 0) << counted.err;
    EXPECT_EQ(Json::parse(contents(folder / "view.json"))["frames"], 5);

    const auto elsewhere = Program(view({serving.url().substr(0, serving.url().find("/yard")) + "/garden"})).wait();
    EXPECT_EQ(elsewhere.code, 66);
    EXPECT_NE(elsewhere.err.find("there is no stream 'garden' here; available: 'yard'"), std::string::npos)
        << elsewhere.err;
}

TEST(View, ReportsAKilledServer) {
    const TemporaryFolder folder;
    Serving serving({"-i", small_synth});
    Program viewer(view({serving.url(), "--reconnect", "0", "-o", folder / "seen.mkv", "--progress", "json"}));
    ASSERT_TRUE(viewer.wait_for_err("\"frame\":")) << viewer.err();
    serving.program().signal(SIGKILL);
    const auto viewed = viewer.wait();
    EXPECT_EQ(viewed.code, 69) << viewed.err;
    EXPECT_NE(viewed.err.find("was lost"), std::string::npos) << viewed.err;
    EXPECT_GT(frames_in(folder / "seen.mkv"), 0) << "the received frames must be kept";
}

// The server's timestamps jump as far as the protocol allows.
TEST(View, ARecordingLimitsTimestampJumps) {
    const TemporaryFolder folder;
    const net::StreamInfo info{{1, 48, 64, 3}, codec::Mode::exact, 20, {30, 1}, "leaps"};
    HostImage picture(info.shape);
    kit::fill(picture.view(), kit::Fill::noise);
    codec::Packer packer(info.shape);
    net::testing::RawListener listener;
    Program viewer(view({fmt::format("tcp://127.0.0.1:{}", listener.port()), "-o", folder / "seen.mkv"}));
    auto server = listener.accept(30s);
    ASSERT_TRUE(server);
    server->send(net::server_hello({.epoch = 1, .info = info}));
    std::uint64_t version = 0;
    for (const double seconds : {0.0, net::max_seconds, -net::max_seconds, net::max_seconds - 1, net::max_seconds}) {
        net::Bytes message;
        net::begin_state(net::MessageType::picture, {++version, 0, seconds}, {}, message);
        packer.pack_picture(std::as_const(picture).view(), info.threshold, message);
        net::end_state(message);
        server->send(message);
    }
    server->send(net::empty_message(net::MessageType::end));
    const auto viewed = viewer.wait();
    EXPECT_EQ(viewed.code, 0) << viewed.err;
    EXPECT_EQ(frames_in(folder / "seen.mkv"), 5);
    const auto probed =
        Program({"ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", folder / "seen.mkv"})
            .wait();
    EXPECT_GT(std::atof(probed.out.c_str()), 1.0) << "a gap of one second must be preserved";
    EXPECT_LT(std::atof(probed.out.c_str()), 2.0) << probed.out;
}

TEST(View, SuggestsAnAlternativeWithoutADisplay) {
    ::unsetenv("DISPLAY");
    ::unsetenv("WAYLAND_DISPLAY");
    ::unsetenv("SDL_VIDEODRIVER");
    Serving serving({"-i", small_synth});
    const auto result = Program(framewire({"view", serving.url(), "--frames", "1"})).wait();
    EXPECT_EQ(result.code, 78) << result.err;
    EXPECT_NE(result.err.find("--no-window"), std::string::npos) << result.err;
}

struct Refused {
    const char* name;
    std::vector<std::string> arguments;
    int code;
    const char* words;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class ServeRefusal : public testing::TestWithParam<Refused> {};

TEST_P(ServeRefusal, ReportsTheReason) {
    const auto result = run_framewire(GetParam().arguments);
    EXPECT_EQ(result.code, GetParam().code) << result.err;
    EXPECT_NE(result.err.find(GetParam().words), std::string::npos) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    All, ServeRefusal,
    testing::Values(
        Refused{"NoPort", {"serve", "-i", small_synth, "--listen", "127.0.0.1"}, 2, "has no port"},
        Refused{"UnavailableAddress",
                {"serve", "-i", small_synth, "--listen", "192.0.2.1:7878", "--no-token"},
                78,
                "cannot listen on 192.0.2.1:7878"},
        Refused{"InvalidThreshold", {"serve", "-i", small_synth, "--threshold", "255"}, 2, "--threshold"},
        Refused{"UnknownMode", {"serve", "-i", small_synth, "--mode", "bonded"}, 2, "--mode"},
        Refused{"EffortWithoutBoundedMode",
                {"serve", "-i", small_synth, "--effort", "2"},
                2,
                "--effort requires --mode bounded"},
        Refused{"InvalidBitrate", {"serve", "-i", small_synth, "--max-bitrate", "2X"}, 2, "'2X' is not a bitrate"},
        Refused{"BitrateInLosslessMode",
                {"serve", "-i", small_synth, "--max-bitrate", "2M", "--mode", "lossless"},
                2,
                "--mode exact --threshold 0"},
        Refused{"MaximumThresholdWithoutBitrate",
                {"serve", "-i", small_synth, "--threshold-max", "40"},
                2,
                "--max-bitrate"},
        Refused{"MaximumThresholdBelowThreshold",
                {"serve", "-i", small_synth, "--max-bitrate", "2M", "--threshold-max", "19"},
                2,
                "--threshold-max 19 is below --threshold 20"},
        Refused{"InvalidRefinement", {"serve", "-i", small_synth, "--refine", "0.05"}, 2, "0 and 0.1 to 3600 seconds"},
        Refused{"InvalidDeprecatedRefresh",
                {"serve", "-i", small_synth, "--refresh", "0.05"},
                2,
                "0 and 0.1 to 3600 seconds"},
        Refused{"RefineAndRefresh",
                {"serve", "-i", small_synth, "--refine", "1", "--refresh", "2"},
                2,
                "--refresh excludes --refine"},
        Refused{"RefinementWithRecording",
                {"serve", "-i", small_synth, "--refine", "1", "--record", "refused.fwd", "--backend", "cpu"},
                2,
                "not refined"},
        Refused{"InvalidRate", {"serve", "-i", small_synth, "--rate", "fast"}, 2, "own, max"},
        Refused{"InvalidName", {"serve", "-i", small_synth, "--listen", "127.0.0.1:0", "--name", "a b"}, 2, "'a b'"},
        Refused{"UnknownFilter", {"serve", "-i", small_synth, "-f", "grey"}, 2, "did you mean 'gray'?"},
        Refused{"NoSuchFile", {"serve", "-i", "/no/such/file.mp4"}, 66, "/no/such/file.mp4"},
        Refused{"UnknownScheme", {"view", "--no-window", "http://127.0.0.1:1"}, 2, "tcp://HOST:PORT"},
        Refused{"InvalidReconnectTime",
                {"view", "--no-window", "--reconnect", "nan", "tcp://127.0.0.1:1"},
                2,
                "--reconnect"},
        Refused{"ConnectionRefused",
                {"view", "--no-window", "tcp://127.0.0.1:1"},
                66,
                "cannot open tcp://127.0.0.1:1/main"}),
    [](const auto& refused) { return refused.param.name; });

}  // namespace
}  // namespace framewire::e2e
