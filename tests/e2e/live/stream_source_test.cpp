// Tests streams of framewire servers as sources of run, detect, hog and show.
#include "e2e/live/guarded.hpp"
#include "e2e/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string_view>

namespace framewire::e2e {
namespace {

using namespace guarded;
using Words = std::vector<std::string>;

constexpr std::size_t frame_bytes = 160 * 120 * 3;

// Expects each recorded frame to be a frame of the source, later than the previous one.
void expect_frames_of_source(const std::string& recorded, int count) {
    ASSERT_EQ(recorded.size(), count * frame_bytes);
    const TemporaryFolder folder;
    ASSERT_EQ(
        run_framewire({"run", "--backend", "cpu", "-i", small_synth, "-o", folder / "all.bgr", "--frames", "1500"})
            .code,
        0);
    const auto all = contents(folder / "all.bgr");
    std::size_t next = 0;
    for (std::size_t frame = 0; frame < recorded.size(); frame += frame_bytes) {
        const std::string_view picture(recorded.data() + frame, frame_bytes);
        while (next < all.size() && std::string_view(all.data() + next, frame_bytes) != picture) next += frame_bytes;
        ASSERT_LT(next, all.size()) << "frame " << frame / frame_bytes << " does not match a later frame of the source";
        next += frame_bytes;
    }
}

class StreamSource : public testing::TestWithParam<const char*> {};

TEST_P(StreamSource, ReturnsCompleteFrames) {
    const TemporaryFolder folder;
    GuardedServer server("127.0.0.1:0", {"--mode", "lossless"}, folder);
    auto url = server.url();
    url.replace(0, url.find("://"), GetParam());
    const auto recorded =
        run_framewire({"run", "--backend", "cpu", "-i", url, "-o", folder / "a.bgr", "--frames", "8"});
    ASSERT_EQ(recorded.code, 0) << recorded.err;
    expect_frames_of_source(contents(folder / "a.bgr"), 8);
    const auto found = run_framewire({"detect", "--backend", "cpu", "-i", url, "--frames", "3"});
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(std::ranges::count(found.out, '\n'), 3) << found.out;
    const auto described =
        run_framewire({"hog", "--backend", "cpu", "-i", url, "-o", folder / "h.npy", "--frames", "2"});
    EXPECT_EQ(described.code, 0) << described.err;
    EXPECT_GT(contents(folder / "h.npy").size(), 1000u);
}

INSTANTIATE_TEST_SUITE_P(Schemes, StreamSource, testing::Values("tcp", "ws"));

TEST(StreamSources, RequireTheTokenAndPinTheCertificate) {
    const TemporaryFolder folder;
    std::ofstream(folder / "token") << "0123456789abcdef0123456789abcdef\n";
    std::ofstream(folder / "wrong") << "0123456789abcdef0123456789abcdeX\n";
    GuardedServer server("127.0.0.1:0", {"--mode", "lossless", "--tls", "--token-file", folder / "token"}, folder);
    const auto words = server.program().err();
    const auto begin = words.find("SHA256:");
    ASSERT_NE(begin, std::string::npos) << words;
    const auto fingerprint = words.substr(begin, words.find_first_of(" \n", begin) - begin);
    const auto run = [&](const Words& more) {
        Words arguments{"run", "--backend", "cpu", "-y", "-i", server.url(), "-o", folder / "a.bgr", "--frames", "2"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_framewire(arguments);
    };
    const auto right = run({"--token-file", folder / "token", "--fingerprint", fingerprint});
    ASSERT_EQ(right.code, 0) << right.err;
    expect_frames_of_source(contents(folder / "a.bgr"), 2);
    EXPECT_EQ(run({"--token-file", folder / "wrong", "--fingerprint", fingerprint}).code, 66);
    EXPECT_EQ(run({"--token-file", folder / "token"}).code, 66) << "the certificate is not signed by a system root";
    EXPECT_EQ(run({}).code, 66);
    const auto elsewhere =
        run_framewire({"run", "-i", "synth:frames=1", "-o", folder / "b.bgr", "--token-file", folder / "token"});
    EXPECT_EQ(elsewhere.code, 2) << elsewhere.err;
}

TEST(StreamSources, MissingStreamsAreInputErrors) {
    const TemporaryFolder folder;
    for (const auto* url : {"tcp://127.0.0.1:1", "ws://127.0.0.1:1/x"})
        EXPECT_EQ(run_framewire({"run", "-i", url, "-o", folder / "a.mkv"}).code, 66) << url;
    EXPECT_EQ(run_framewire({"run", "-i", "tcp://127.0.0.1", "-o", folder / "a.mkv"}).code, 2) << "no port";
    EXPECT_TRUE(folder.names().empty());
}

// With its own rate, a file takes as long as it plays; a number gives its frames new timestamps.
TEST(Rates, AreAcceptedByDetectAndHog) {
    const TemporaryFolder folder;
    const std::string source = "synth:size=64x48:fps=20:frames=20";
    const auto seconds = [&](Words arguments, const std::string& rate) {
        const auto stats = folder / "stats.json";
        arguments.insert(arguments.end(), {"-y", "--backend", "cpu", "-i", source, "--rate", rate, "--stats", stats});
        const auto result = run_framewire(arguments);
        EXPECT_EQ(result.code, 0) << result.err;
        const auto words = contents(stats);
        return std::strtod(words.c_str() + words.find("\"seconds\":") + 10, nullptr);
    };
    for (const Words& command : {Words{"detect", "-o", folder / "b.jsonl"}, Words{"hog", "-o", folder / "h.npy"}})
        EXPECT_GT(seconds(command, "own"), 0.9) << command.front();
    seconds({"detect", "-o", folder / "b.jsonl"}, "5");
    const auto lines = contents(folder / "b.jsonl");
    EXPECT_NE(lines.find("\"time\":3.8"), std::string::npos) << lines;
    for (const Words& command :
         {Words{"detect", "-i", source}, Words{"hog", "-i", source, "-o", folder / "x.npy"}, Words{"show", source}}) {
        auto all = command;
        all.insert(all.end(), {"--rate", "fast"});
        const auto refused = run_framewire(all);
        EXPECT_EQ(refused.code, 2) << refused.err;
        EXPECT_NE(refused.err.find("--rate"), std::string::npos) << refused.err;
    }
}

}  // namespace
}  // namespace framewire::e2e
