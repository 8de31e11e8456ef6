// Tests recordings of the difference stream: complete, killed, damaged, and read by every subcommand.

#include "e2e/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

constexpr auto camera = "synth:size=160x96:fps=30:noise=3:objects=3:frames=40";
constexpr std::size_t frame_bytes = std::size_t{160} * 96 * 3;

Result run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "--backend", "cpu", "-y"});
    return run_framewire(std::move(arguments));
}

std::string raw(const TemporaryFolder& folder, const std::vector<std::string>& input, int code = 0) {
    auto arguments = input;
    arguments.insert(arguments.end(), {"-o", folder / "raw.bgr"});
    const auto result = run(arguments);
    EXPECT_EQ(result.code, code) << result.err;
    return contents(folder / "raw.bgr");
}

int furthest(const std::string& one, const std::string& other) {
    int far = one.size() == other.size() ? 0 : 256;
    for (std::size_t at = 0; at < std::min(one.size(), other.size()); ++at)
        far = std::max(far, std::abs(static_cast<std::uint8_t>(one[at]) - static_cast<std::uint8_t>(other[at])));
    return far;
}

TEST(FwdFiles, AreReadableByEverySubcommand) {
    const TemporaryFolder folder;
    const auto path = folder / "a.fwd";
    const auto made = run({"-i", camera, "-o", path + ":mode=bounded:threshold=12:key=0.5"});
    ASSERT_EQ(made.code, 0) << made.err;
    const auto all = raw(folder, {"-i", path});
    EXPECT_LE(furthest(all, raw(folder, {"-i", camera})), 12);
    const auto part = raw(folder, {"-i", path, "--start", "0.6", "--duration", "0.5"});
    EXPECT_TRUE(part == all.substr(18 * frame_bytes, 15 * frame_bytes));
    const auto detected = run_framewire({"detect", "--backend", "cpu", "-i", path, "-o", folder / "boxes.jsonl",
                                         "--annotate", folder / "boxes.fwd:mode=lossless"});
    EXPECT_EQ(detected.code, 0) << detected.err;
    EXPECT_EQ(raw(folder, {"-i", folder / "boxes.fwd"}).size(), all.size());
    const auto described = run_framewire({"hog", "--backend", "cpu", "-i", path, "-o", folder / "hog.npy"});
    EXPECT_EQ(described.code, 0) << described.err;
    const auto served = run_framewire({"serve", "--backend", "cpu", "-i", path, "--listen", "127.0.0.1:0", "--rate",
                                       "max", "--mode", "lossless", "--record", folder / "again.fwd"});
    EXPECT_EQ(served.code, 0) << served.err;
    EXPECT_TRUE(raw(folder, {"-i", folder / "again.fwd"}) == all);
}

TEST(FwdFiles, AreSplitAtKeyframes) {
    const TemporaryFolder folder;
    ASSERT_EQ(run({"-i", "synth:size=64x48:fps=10:frames=60", "-o", folder / "a.fwd:mode=bounded:key=1"}).code, 0);
    const std::vector<std::string> filter{"-i", folder / "a.fwd", "-f", "gray=channels=1,gaussian=5"};
    auto whole = filter, pieces = filter;
    whole.insert(whole.end(), {"-o", folder / "a.gray"});
    pieces.insert(pieces.end(), {"-o", folder / "out/", "--ending", "gray", "--segment", "2", "--jobs", "2"});
    ASSERT_EQ(run(whole).code, 0);
    const auto result = run(pieces);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(contents(folder / "out/a.gray") == contents(folder / "a.gray"));
}

TEST(FwdFiles, AreReadableToTheLastFrameAfterAKill) {
    const std::string source = "synth:size=160x96:fps=100:noise=3";
    std::minstd_rand random(3);
    for (const auto* keys : {":mode=exact", ":mode=bounded"}) {
        const TemporaryFolder folder, begun;
        const auto path = folder / "a.fwd", some = begun / "some.fwd";
        ASSERT_EQ(run({"-i", source, "--frames", "20", "-o", some + keys}).code, 0);
        const auto killed_at = std::filesystem::file_size(some) * (100 + random() % 200) / 100;
        Program program(
            framewire({"run", "--backend", "cpu", "--rate", "own", "-i", source + ":frames=2000", "-o", path + keys}));
        const auto part = path + ".part";
        ASSERT_TRUE(becomes_true([&] {
            return std::filesystem::exists(part) && std::filesystem::file_size(part) >= killed_at;
        })) << program.err();
        program.signal(SIGKILL);
        EXPECT_EQ(program.wait().code, 128 + SIGKILL);
        ASSERT_EQ(folder.names(), std::vector<std::string>{"a.fwd.part"});
        const auto result = run({"-i", part, "-o", folder / "raw.bgr"});
        EXPECT_EQ(result.code, 69) << result.err;
        EXPECT_NE(result.err.find("it is unfinished or truncated"), std::string::npos) << result.err;
        const auto left = contents(folder / "raw.bgr");
        EXPECT_EQ(left.size() % frame_bytes, 0u);
        EXPECT_GT(left.size(), 10 * frame_bytes);
        const auto frames = left.size() / frame_bytes;
        const auto want = run({"-i", source, "--frames", std::to_string(frames), "-o", folder / "want.bgr"});
        ASSERT_EQ(want.code, 0) << want.err;
        EXPECT_LE(furthest(left, contents(folder / "want.bgr")), 20);
    }
}

TEST(FwdFiles, DamageIsReportedInExitStatusAndStatistics) {
    const TemporaryFolder folder;
    const auto path = folder / "a.fwd";
    ASSERT_EQ(run({"-i", camera, "-o", path + ":key=0.5"}).code, 0);
    const auto whole = raw(folder, {"-i", path});
    const auto bytes = std::filesystem::file_size(path);
    {
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(static_cast<std::streamoff>(bytes / 2));
        const auto was = file.get();
        file.seekp(static_cast<std::streamoff>(bytes / 2));
        file.put(static_cast<char>(was ^ 8));
    }
    const auto result = run({"-i", path, "-o", folder / "b.bgr", "--stats", folder / "stats.json"});
    EXPECT_EQ(result.code, 69) << result.err;
    EXPECT_NE(result.err.find("at byte"), std::string::npos) << result.err;
    EXPECT_NE(contents(folder / "stats.json").find("\"damaged\": "), std::string::npos);
    const auto read = contents(folder / "b.bgr");
    EXPECT_GE(read.size() + frame_bytes, whole.size()) << "more than one frame was lost";
    // Reading only the undamaged time range reports no damage.
    EXPECT_TRUE(raw(folder, {"-i", path, "--duration", "0.2"}) == whole.substr(0, 6 * frame_bytes));
}

}  // namespace
}  // namespace framewire::e2e
