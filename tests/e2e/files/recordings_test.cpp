// Tests recordings that are split into segments.
#include "e2e/live/network_camera.hpp"
#include "e2e/program.hpp"
#include "e2e/shell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

Result run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "--backend", "cpu", "--progress", "none"});
    return run_framewire(std::move(arguments));
}

TEST(Recordings, SegmentsContainEveryFrameOnce) {
    const TemporaryFolder folder;
    // Record the same frames in one file and in segments.
    const std::string source = "synth:size=96x64:fps=25:seed=3:frames=130";
    ASSERT_EQ(run({"-i", source, "-o", folder / "whole.mkv"}).code, 0);
    std::filesystem::create_directory(folder / "p");
    const auto made = run({"-i", source, "-o", folder / "p/cam-%Y%m%d-%H%M%S.mkv", "--segment-time", "1s"});
    ASSERT_EQ(made.code, 0) << made.err;
    std::vector<std::string> pieces;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "p")) pieces.push_back(entry.path());
    std::sort(pieces.begin(), pieces.end());
    ASSERT_EQ(pieces.size(), 6U);
    std::ofstream list(folder / "list.ffconcat");
    list << "ffconcat version 1.0\n";
    for (const auto& piece : pieces) list << "file '" << piece << "'\n";
    list.close();
    const auto sums = [](const std::string& input) {
        return printed_by("ffmpeg -nostdin -v error " + input +
                          " -fps_mode passthrough -f framemd5 - | grep -v '^#' | sed 's/.*,//'");
    };
    const auto whole = sums("-i " + (folder / "whole.mkv"));
    EXPECT_EQ(sums("-safe 0 -i " + (folder / "list.ffconcat")), whole);
    EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 130);
}

// When a client connects, a camera immediately sends all frames that it has: faster than they can be encoded.
TEST(Recordings, ContainEveryFrameOfALiveSource) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 120 -c:v mjpeg -f matroska " +
                       (folder / "camera.mkv")));
    for (const auto& job : std::vector<std::vector<std::string>>{{"run", "-f", "gaussian=9", "-o", folder / "out.mkv"},
                                                                 {"detect", "-o", folder / "out.jsonl"},
                                                                 {"hog", "-o", folder / "out.npy"}}) {
        const int port = free_port();
        const auto url = "http://127.0.0.1:" + std::to_string(port) + "/x";
        ASSERT_EQ(std::system(("timeout 100 ffmpeg -nostdin -v quiet -i " + (folder / "camera.mkv") +
                               " -c copy -f matroska -listen 1 " + url + " &")
                                  .c_str()),
                  0);
        auto arguments = job;
        arguments.insert(arguments.begin() + 1, {"-y", "--backend", "cpu", "--progress", "none", "--frames", "110",
                                                 "--stats", folder / "stats.json", "-i", url});
        ASSERT_TRUE(becomes_true([&] { return somebody_is_at(port); }));
        const auto made = run_framewire(arguments);
        EXPECT_EQ(made.code, 0) << job[0] << made.err;
        EXPECT_NE(made.err.find(" 0 dropped"), std::string::npos) << job[0] << made.err;
    }
    const auto times = probed(folder / "out.mkv", "frame=best_effort_timestamp_time", "-select_streams v");
    std::istringstream lines(times);
    double time = 0, expected = 0;
    for (std::string line; std::getline(lines, line) && std::istringstream(line) >> time; expected += 0.04)
        EXPECT_NEAR(time, expected, 0.002);
    EXPECT_NEAR(expected, 110 * 0.04, 0.001);
}

TEST(Recordings, SegmentsStartWithKeyframesAndAppearComplete) {
    const TemporaryFolder folder;
    Program program(
        framewire({"run", "--backend", "cpu", "--progress", "none", "-i", "lavfi:testsrc2=size=96x64:rate=50,realtime",
                   "-o", folder / "cam-%H%M%S.mp4", "--segment-time", "1s"}));
    EXPECT_TRUE(becomes_true([&] {
        int seen = 0;
        for (const auto& name : folder.names())
            if (name.ends_with(".mp4")) {
                ++seen;
                EXPECT_GT(frames_in(folder / name), 0) << name;
                EXPECT_EQ(probed(folder / name, "packet=flags", "-read_intervals %+#1").substr(0, 1), "K") << name;
            }
        return seen >= 3;
    }));
    program.signal(SIGINT);
    const auto result = program.wait();
    EXPECT_EQ(result.code, 130) << result.err;
    for (const auto& name : folder.names()) {
        EXPECT_TRUE(name.ends_with(".mp4")) << name;
        EXPECT_GT(frames_in(folder / name), 0) << name;
    }
}

TEST(Recordings, RemovesOnlyOldSegments) {
    const TemporaryFolder folder;
    std::ofstream(folder / "cam-20200101-000000.y4m") << std::string(1000, 'x');
    std::ofstream(folder / "cam-mine.y4m") << "mine";
    std::filesystem::last_write_time(folder / "cam-20200101-000000.y4m",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 8));
    const auto made = run({"-i", "synth:size=64x48:fps=10:frames=45", "-o", folder / "cam-%Y%m%d-%H%M%S.y4m",
                           "--segment-time", "1", "--keep", "7d"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(folder.names().size(), 6U);
    EXPECT_FALSE(std::filesystem::exists(folder / "cam-20200101-000000.y4m"));
    EXPECT_TRUE(std::filesystem::exists(folder / "cam-mine.y4m"));
}

TEST(Recordings, InvalidOptionsAreRejected) {
    const TemporaryFolder folder;
    const auto refused = [&](std::vector<std::string> more, const std::string& reason) {
        std::vector<std::string> arguments{"-i", "synth:size=64x48", "--frames", "3"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto result = run(arguments);
        EXPECT_EQ(result.code, 2) << result.err;
        EXPECT_NE(result.err.find(reason), std::string::npos) << result.err;
    };
    refused({"-o", folder / "a.mp4", "--segment-time", "1s"}, "segments need a time in their name");
    refused({"-o", folder / "a-%H.png", "--segment-time", "1s"}, "cannot be split into segments");
    refused({"-o", folder / "a-%H.mp4", "--segment-time", "soon"}, "'soon' is not a time");
    refused({"-o", folder / "a-%H.mp4", "--segment-time", "1s", "--keep", "much"}, "neither a time");
    refused({"-o", folder / "a-%H.mp4", "--keep", "7d"}, "--segment-time");
    EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace framewire::e2e
