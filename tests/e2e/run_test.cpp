#include "e2e/program.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;
using testing::Values;

const std::string small_synth = "synth:size=64x48:fps=30:seed=1";
constexpr std::size_t small_bytes = 64 * 48 * 3;

// Runs `run` on the CPU, so that the expected results do not depend on the machine.
Result run(std::vector<std::string> arguments, const std::string& input = "/dev/null") {
    arguments.insert(arguments.begin(), {"run", "--backend", "cpu"});
    return run_framewire(std::move(arguments), input);
}

class RunKind : public testing::TestWithParam<const char*> {};

TEST_P(RunKind, IsPlayableAndContainsEveryFrame) {
    const TemporaryFolder folder;
    const auto output = folder / ("out" + std::string(GetParam()));
    const auto result = run({"-i", small_synth, "-f", "gray", "-o", output, "--frames", "12"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(frames_in(output), 12);
}

INSTANTIATE_TEST_SUITE_P(Endings, RunKind, Values(".mp4", ".mkv", ".avi", ".y4m", ".m3u8"));

TEST(Run, RawOutputsContainOnlyPixels) {
    const TemporaryFolder folder;
    EXPECT_EQ(run({"-i", small_synth, "-o", folder / "out.bgr", "--frames", "3"}).code, 0);
    EXPECT_EQ(run({"-i", small_synth, "-f", "gray=channels=1", "-o", folder / "out.gray", "--frames", "3"}).code, 0);
    const auto bgr = contents(folder / "out.bgr"), gray = contents(folder / "out.gray");
    ASSERT_EQ(bgr.size(), 3 * small_bytes);
    ASSERT_EQ(gray.size(), small_bytes);
    for (std::size_t pixel = 0; pixel < gray.size(); ++pixel) {
        const auto channel = [&](std::size_t index) { return static_cast<std::uint8_t>(bgr[3 * pixel + index]); };
        const int expected = (3735 * channel(0) + 19235 * channel(1) + 9798 * channel(2) + (1 << 14)) >> 15;
        ASSERT_EQ(static_cast<std::uint8_t>(gray[pixel]), expected) << "pixel " << pixel;
    }
}

// Filters that only move pixels give the same bytes as the FFmpeg filters of the same name.
TEST(Run, MovesPixelsLikeFfmpeg) {
    const TemporaryFolder folder;
    ASSERT_EQ(run({"-i", small_synth, "-o", folder / "in.bgr", "--frames", "2"}).code, 0);
    for (const auto& [ours, ffmpegs] : {std::pair{"crop=30:20:5:7", "crop=30:20:5:7"},
                                        {"crop=iw/2:ih/2", "crop=iw/2:ih/2"},
                                        {"pad=81:60:3:4:orange", "pad=81:60:3:4:orange"},
                                        {"pad=iw+16:0:-1:-1", "pad=iw+16:0:-1:-1"},
                                        {"flip", "hflip"},
                                        {"flip=vertical", "vflip"},
                                        {"rotate=90", "transpose=clock"},
                                        {"rotate=180", "hflip,vflip"},
                                        {"rotate=270", "transpose=cclock"}}) {
        ASSERT_EQ(run({"-i", small_synth, "-f", ours, "-o", folder / "ours.bgr", "--frames", "2", "-y"}).code, 0);
        const auto judge = Program({"ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pixel_format", "bgr24",
                                    "-video_size", "64x48", "-i", folder / "in.bgr", "-vf", ffmpegs, "-f", "rawvideo",
                                    "-pix_fmt", "bgr24", folder / "ffmpegs.bgr"})
                               .wait();
        ASSERT_EQ(judge.code, 0) << judge.err;
        EXPECT_TRUE(contents(folder / "ours.bgr") == contents(folder / "ffmpegs.bgr")) << ours;
    }
}

TEST(Run, ScalesToTheGivenSize) {
    const TemporaryFolder folder;
    ASSERT_EQ(
        run({"-i", small_synth, "-f", "scale=w=40:h=-2,rotate=90", "-o", folder / "out.bgr", "--frames", "2"}).code, 0);
    EXPECT_EQ(contents(folder / "out.bgr").size(), 2u * 40 * 30 * 3);
    const auto refused =
        run({"-i", small_synth, "-f", "gray,scale=50%:20000", "-o", folder / "no.bgr", "--frames", "2"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("filters, column 6: filter 'scale': scale's result is 32x20000"), std::string::npos)
        << refused.err;
}

TEST(Run, WritesOneImageOrMany) {
    const TemporaryFolder folder;
    EXPECT_EQ(run({"-i", small_synth, "-o", folder / "one.png", "--frames", "1"}).code, 0);
    EXPECT_EQ(run({"-i", small_synth, "-o", folder / "one.jpg", "--frames", "1"}).code, 0);
    EXPECT_EQ(run({"-i", small_synth, "-o", folder / "many%04d.png", "--frames", "4"}).code, 0);
    EXPECT_EQ(folder.names().size(), 6u);
    for (const auto& name : folder.names()) EXPECT_EQ(frames_in(folder / name), 1) << name;
}

TEST(Run, ALosslessFileRestoresTheSameBytes) {
    const TemporaryFolder folder;
    EXPECT_EQ(run({"-i", small_synth, "-o", folder / "a.mkv", "--frames", "5"}).code, 0);
    EXPECT_EQ(run({"-i", folder / "a.mkv", "-o", folder / "a.bgr"}).code, 0);
    EXPECT_EQ(run({"-i", small_synth, "-o", folder / "b.bgr", "--frames", "5"}).code, 0);
    EXPECT_EQ(contents(folder / "a.bgr"), contents(folder / "b.bgr"));
}

TEST(Run, ReadsFfmpegTestSources) {
    const TemporaryFolder folder;
    const auto result = run({"-i", "lavfi:testsrc2=size=320x180:rate=25:duration=1", "-o", folder / "out.mkv"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(frames_in(folder / "out.mkv"), 25);
}

TEST(Run, PipesY4mAndWritesMessagesOnlyToStandardError) {
    const TemporaryFolder folder;
    const auto first = run({"-i", small_synth, "-o", "-", "--frames", "5"});
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(first.out.rfind("YUV4MPEG2 ", 0), 0u);
    std::ofstream(folder / "piped.y4m", std::ios::binary) << first.out;
    EXPECT_EQ(frames_in(folder / "piped.y4m"), 5);
    const auto second = run({"-i", "-", "-o", "-"}, folder / "piped.y4m");
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(second.out.size(), first.out.size());
}

TEST(Run, WritesStatistics) {
    const TemporaryFolder folder;
    const auto result = run(
        {"-i", small_synth, "-f", "gray", "-o", folder / "out.bgr", "--frames", "7", "--stats", folder / "stats.json"});
    ASSERT_EQ(result.code, 0) << result.err;
    auto figures = Json::parse(contents(folder / "stats.json"));
    EXPECT_EQ(figures["frames"], 7);
    EXPECT_EQ(figures["drops"], 0);
    EXPECT_EQ(figures["backend"], "cpu");
    EXPECT_EQ(figures["source"], small_synth);
    EXPECT_EQ(figures["size"], (Json{{"width", 64}, {"height", 48}, {"channels", 3}}));
    EXPECT_EQ(figures["raw_bytes"], 7 * small_bytes);
    EXPECT_EQ(figures["sent_bytes"], 7 * small_bytes);
    EXPECT_GT(figures["fps"], 0);
    for (const char* stage : {"read_ms", "process_ms", "send_ms"}) {
        EXPECT_GT(figures[stage]["mean"], 0) << stage;
        EXPECT_LE(figures[stage]["median"], figures[stage]["p99"]) << stage;
    }
    EXPECT_FALSE(figures.contains("psnr"));
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"out.bgr", "stats.json"}));
}

TEST(Run, PlaysAtTheRequestedRate) {
    const TemporaryFolder folder;
    const std::string source = "synth:size=64x48:fps=20:frames=20";
    const auto seconds = [&](const std::string& rate, const std::string& output) {
        const auto result = run({"-y", "-i", source, "--rate", rate, "-o", output, "--stats", folder / "stats.json"});
        EXPECT_EQ(result.code, 0) << result.err;
        return Json::parse(contents(folder / "stats.json"))["seconds"].get<double>();
    };
    const auto own = seconds("own", folder / "a.mkv");
    EXPECT_GT(own, 0.9);
    EXPECT_LT(seconds("max", folder / "a.mkv"), own);
    EXPECT_GT(seconds("auto", "udp://127.0.0.1:9"), 0.9) << "nobody takes a stream faster than it plays";
    seconds("5", folder / "slow.mp4");
    const auto probed = Program({"ffprobe", "-v", "error", "-show_entries", "stream=r_frame_rate,nb_frames", "-of",
                                 "csv=p=0", folder / "slow.mp4"})
                            .wait();
    EXPECT_EQ(probed.out, "5/1,20\n");
}

TEST(Run, ReportsProgressAsJson) {
    const TemporaryFolder folder;
    const auto result =
        run({"-i", small_synth, "-o", folder / "out.bgr", "--frames", "7", "--progress", "json", "--log-level", "off"});
    EXPECT_EQ(result.code, 0);
    auto last = Json::parse(result.err);
    EXPECT_EQ(last["frame"], 7);
    EXPECT_EQ(last["frames"], 7);
}

struct Refusal {
    const char* name;
    std::vector<std::string> arguments;  // OUT is replaced by an output in a fresh folder
    int code;
    const char* words;  // text that is expected on standard error
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class RunRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(RunRefusal, ReportsTheReasonAndLeavesNoFile) {
    const TemporaryFolder folder;
    auto arguments = GetParam().arguments;
    for (auto& argument : arguments)
        if (const auto at = argument.find("OUT"); at != std::string::npos) argument.replace(at, 3, folder / "out");
    const auto result = run_framewire(arguments);
    EXPECT_EQ(result.code, GetParam().code) << result.err;
    EXPECT_NE(result.err.find(GetParam().words), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(folder.names().empty()) << folder.names().front();
}

const char* const synth = "synth:size=64x48:fps=30:seed=1";

INSTANTIATE_TEST_SUITE_P(
    All, RunRefusal,
    Values(Refusal{"NoSubcommand", {}, 2, "subcommand"}, Refusal{"UnknownSubcommand", {"rnu"}, 2, "rnu"},
           Refusal{"NoOutput", {"run", "-i", synth}, 2, "--output is required"},
           Refusal{"NoInput", {"run", "-o", "OUT.mp4"}, 2, "--input is required"},
           Refusal{"UnknownFlag", {"run", "-i", synth, "-o", "OUT.mp4", "--fast"}, 2, "--fast"},
           Refusal{"ZeroFrames", {"run", "-i", synth, "-o", "OUT.mp4", "--frames", "0"}, 2, "--frames"},
           Refusal{"UnknownBackend",
                   {"run", "-i", synth, "-o", "OUT.mp4", "--backend", "gpu"},
                   2,
                   "'gpu' is not allowed; allowed: one of auto, cpu, cuda"},
           Refusal{"UnknownFilter",
                   {"run", "-i", synth, "-o", "OUT.mp4", "-f", "gray,grey"},
                   2,
                   "did you mean 'gray'?\n  gray,grey\n       ^"},
           Refusal{"InvalidFilterValue",
                   {"run", "-i", synth, "-o", "OUT.mp4", "-f", "gray=channels=2"},
                   2,
                   "filters, column 15: filter 'gray': channels '2' is not allowed; allowed: one of 1, 3"},
           Refusal{"NoSuchFile", {"run", "-i", "/no/such/file.mp4", "-o", "OUT.mp4"}, 66, "/no/such/file.mp4"},
           Refusal{"UnknownExtension", {"run", "-i", synth, "-o", "OUT.xyz"}, 2, "xyz"},
           Refusal{"NoSuchFolder", {"run", "-i", synth, "-o", "OUT/none/out.mkv"}, 74, "none/out.mkv"},
           Refusal{"UnwritableStatistics",
                   {"run", "-i", synth, "-o", "OUT.mkv", "--stats", "/no/such/folder/stats.json"},
                   74,
                   "/no/such/folder/stats.json"}),
    [](const auto& refusal) { return refusal.param.name; });

TEST(Run, RejectsCudaWithoutAGpu) {
    auto devices = Json::parse(run_framewire({"devices", "--json"}).out);
    // Nothing is refused on a machine with a GPU; the loopback tests use the GPU there.
    if (!devices["cuda"]["gpus"].empty()) GTEST_SKIP() << "this machine has a GPU";
    const TemporaryFolder folder;
    const auto result = run_framewire({"run", "--backend", "cuda", "-i", synth, "-o", folder / "out.mkv"});
    EXPECT_EQ(result.code, 78);
    EXPECT_NE(result.err.find("the cuda backend is not available here"), std::string::npos) << result.err;
    EXPECT_TRUE(folder.names().empty());
}

TEST(Run, WritesRawBytesToStandardOutput) {
    const TemporaryFolder folder;
    const auto raw = run({"-i", small_synth, "-o", "-:format=bgr", "--frames", "3"});
    EXPECT_EQ(raw.code, 0) << raw.err;
    ASSERT_EQ(run({"-i", small_synth, "-o", folder / "a.bgr", "--frames", "3"}).code, 0);
    EXPECT_EQ(raw.out, contents(folder / "a.bgr"));
    const auto gray = run({"-i", small_synth, "-f", "gray=channels=1", "-o", "-:format=gray", "--frames", "3"});
    EXPECT_EQ(gray.code, 0) << gray.err;
    EXPECT_EQ(gray.out.size(), small_bytes);
    EXPECT_EQ(run({"-i", small_synth, "-o", "-:format=gray", "--frames", "1"}).code, 2) << "it is BGR";
    EXPECT_EQ(run({"-i", small_synth, "-o", "-:format=bgr:range=full", "--frames", "1"}).code, 2);
    const auto two = run_framewire({"detect", "-i", small_synth, "--frames", "1", "--mask", "-:format=gray"});
    EXPECT_EQ(two.code, 2) << "records and masks both write to standard output: " << two.err;
}

class RunSignal : public testing::TestWithParam<int> {};

TEST_P(RunSignal, LeavesACompleteFile) {
    const TemporaryFolder folder;
    Program program(framewire({"run", "--backend", "cpu", "-i", "synth:size=320x240:fps=30:seed=1", "-o",
                               folder / "out.mp4", "--progress", "json", "--stats", folder / "stats.json"}));
    ASSERT_TRUE(program.wait_for_err("\"frame\":")) << program.err();
    program.signal(GetParam());
    const auto result = program.wait();
    EXPECT_EQ(result.code, 128 + GetParam()) << result.err;
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"out.mp4", "stats.json"}));
    const auto frames = Json::parse(contents(folder / "stats.json"))["frames"].get<int>();
    EXPECT_GT(frames, 0);
    EXPECT_EQ(frames_in(folder / "out.mp4"), frames);
}

INSTANTIATE_TEST_SUITE_P(Both, RunSignal, Values(SIGINT, SIGTERM));

TEST(Run, WritesTheReadablePartOfATruncatedFile) {
    const TemporaryFolder folder;
    ASSERT_EQ(run({"-i", small_synth, "-o", folder / "whole.y4m", "--frames", "10"}).code, 0);
    auto bytes = contents(folder / "whole.y4m");
    bytes.resize(bytes.size() - 100);
    std::ofstream(folder / "cut.y4m", std::ios::binary) << bytes;
    const auto result = run({"-i", folder / "cut.y4m", "-o", folder / "out.mkv", "--stats", folder / "stats.json"});
    EXPECT_EQ(result.code, 69) << result.err;
    EXPECT_NE(result.err.find("cut.y4m"), std::string::npos) << result.err;
    EXPECT_EQ(frames_in(folder / "out.mkv"), 9);
    EXPECT_EQ(Json::parse(contents(folder / "stats.json"))["frames"], 9);
}

TEST(Run, AClosedPipeIsAnOutputError) {
    const auto result =
        Program(framewire({"run", "--backend", "cpu", "-i", small_synth, "-o", "-"}), "/dev/null", true).wait();
    EXPECT_EQ(result.code, 74) << result.err;
    EXPECT_NE(result.err.find("standard output"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace framewire::e2e
