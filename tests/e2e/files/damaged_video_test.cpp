// Tests damaged videos: everything that can be decoded is written, the exit status reports the damage, and every run
// gives the same result. ffprobe counts the written frames.
#include "e2e/program.hpp"
#include "e2e/shell.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace framewire::e2e {
namespace {

struct Clip {
    const char* name;
    const char* file;
    const char* encoding;
    bool looks_the_same;  // false if the decoder may miss the damage, so that runs may differ
};

class DamagedVideo : public ::testing::TestWithParam<Clip> {
protected:
    DamagedVideo() {
        EXPECT_TRUE(ffmpeg(std::string("-f lavfi -i testsrc2=size=352x288:rate=25 -frames:v 75 ") +
                           GetParam().encoding + " '" + clip() + "'"));
    }

    std::string clip() const { return folder_ / GetParam().file; }

    // Flips one bit per `every` bytes in the middle half of the file.
    void damage(std::size_t every) const {
        auto bytes = contents(clip());
        for (auto at = bytes.size() / 4; at < bytes.size() * 3 / 4; at += every)
            bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
        std::ofstream(clip(), std::ios::binary) << bytes;
    }

    Result run(const std::string& output, const std::string& threads) const {
        return run_framewire(
            {"run", "--backend", "cpu", "--progress", "none", "-y", "-i", clip(), "-o", output, "--threads", threads});
    }

    TemporaryFolder folder_;
};

TEST_P(DamagedVideo, ResultsAreTheSameInEveryRun) {
    damage(std::filesystem::file_size(clip()) / 24);
    const auto first = run(folder_ / "first.y4m", "2");
    EXPECT_EQ(first.code, 69) << first.err;
    EXPECT_NE(first.err.find("are damaged, the first after frame "), std::string::npos) << first.err;
    EXPECT_GT(frames_in(folder_ / "first.y4m"), 60);
    for (int again = 1; again <= 6; ++again) {
        const auto run_again = run(folder_ / "again.y4m", std::to_string(again));
        EXPECT_EQ(run_again.code, 69) << again << " " << run_again.err;
        if (GetParam().looks_the_same) {
            EXPECT_EQ(run_again.err, first.err) << again;
            EXPECT_TRUE(contents(folder_ / "again.y4m") == contents(folder_ / "first.y4m")) << again;
        }
        std::filesystem::remove(folder_ / "again.y4m");
    }
}

class DamagedH264 : public DamagedVideo {};  // other decoders may continue past a single wrong bit without noticing it

TEST_P(DamagedH264, OneWrongBitIsDetectedInEveryRun) {
    damage(std::filesystem::file_size(clip()));
    for (int again = 1; again <= 8; ++again) {
        const auto made = run(folder_ / ("out" + std::to_string(again) + ".y4m"), "2");
        EXPECT_EQ(made.code, 69) << again << " " << made.err;
    }
}

TEST_P(DamagedVideo, AnIntactFileIsNotAnError) {
    const auto made = run(folder_ / "out.y4m", "2");
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(frames_in(folder_ / "out.y4m"), 75);
}

// The clip starts with a keyframe of an open GOP. Some of the next frames in the file precede it in display order and
// refer to frames that the cut removed.
TEST(SegmentedVideo, MissingFramesBeforeTheFirstKeyframeAreNotAnError) {
    const TemporaryFolder folder;
    for (const std::string codec :
         {"libx264 -x264-params open-gop=1", "libx265 -x265-params open-gop=1:log-level=error"}) {
        ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=352x288:rate=25 -frames:v 75 -g 25 -bf 3 -c:v " + codec + " '" +
                           (folder / "whole.mkv") + "'"));
        ASSERT_TRUE(ffmpeg("-ss 1.4 -i '" + (folder / "whole.mkv") + "' -c copy '" + (folder / "cut.mkv") + "'"));
        const auto made = run_framewire({"run", "--backend", "cpu", "--progress", "none", "-y", "-i",
                                         folder / "cut.mkv", "-o", folder / "out.y4m"});
        EXPECT_EQ(made.code, 0) << codec << " " << made.err;
        const auto started = run_framewire({"run", "--backend", "cpu", "--progress", "none", "-y", "-i",
                                            folder / "whole.mkv", "-o", folder / "out.y4m", "--start", "1.5"});
        EXPECT_EQ(started.code, 0) << codec << " " << started.err;
    }
}

const Clip h264{"h264", "a.mp4", "-c:v libx264 -movflags +faststart", true};

std::string name_of(const ::testing::TestParamInfo<Clip>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Codecs, DamagedH264, ::testing::Values(h264), name_of);
INSTANTIATE_TEST_SUITE_P(
    Codecs, DamagedVideo,
    ::testing::Values(h264, Clip{"h264_in_a_transport_stream", "a.ts", "-c:v libx264", true},
                      Clip{"h265", "a.mp4", "-c:v libx265 -x265-params log-level=error -movflags +faststart", false},
                      Clip{"mpeg4", "a.avi", "-c:v mpeg4 -bf 2 -q:v 3", true}),
    name_of);

}  // namespace
}  // namespace framewire::e2e
