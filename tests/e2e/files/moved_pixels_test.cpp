// Frames whose pixels only move go on as they were decoded: FFmpeg's program judges, which moves planes too.

#include "e2e/program.hpp"
#include "e2e/shell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace moved_pixels_test {

// What follows the first line of a y4m file.
std::string pictures_in(const std::string& path) {
    const auto bytes = contents(path);
    return bytes.substr(std::min(bytes.find('\n'), bytes.size()));
}

class MovedPixels : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(
            ffmpeg("-f lavfi -i testsrc2=size=128x96:rate=10:duration=1 -c:v libx264 -pix_fmt yuv420p " + clip_));
    }

    std::string ours(const std::string& filters, const std::string& name, const std::string& input = "clip.mp4") {
        std::vector<std::string> words{"run", "--backend", "cpu", "-y", "-i", folder_ / input, "-o", folder_ / name};
        if (!filters.empty()) words.insert(words.end(), {"-f", filters});
        const auto made = run_framewire(std::move(words));
        EXPECT_EQ(made.code, 0) << made.err;
        return folder_ / name;
    }

    TemporaryFolder folder_;
    std::string clip_ = folder_ / "clip.mp4";
};

TEST_F(MovedPixels, AreFfmpegsByteForByte) {
    struct Case {
        const char *ours, *ffmpeg;
    };
    ASSERT_TRUE(ffmpeg("-i " + clip_ + " " + (folder_ / "clip.y4m")));
    for (const auto& one : {Case{"", "null"}, Case{"crop=64:48:16:8", "crop=64:48:16:8"},
                            Case{"pad=160:112:8:4:orange", "pad=160:112:8:4:0xffa500"}, Case{"flip=vertical", "vflip"},
                            Case{"crop=64:48:16:8,pad=80:64:8:8,flip=vertical", "crop=64:48:16:8,pad=80:64:8:8,vflip"},
                            Case{"fps=5", "fps=5"}, Case{"fps=20,crop=64:48:16:8", "fps=20,crop=64:48:16:8"}}) {
        SCOPED_TRACE(one.ours);
        const auto want = folder_ / "want.y4m";
        ASSERT_TRUE(ffmpeg("-i " + clip_ + " -vf '" + one.ffmpeg + "' " + want));
        EXPECT_FALSE(pictures_in(want).empty());
        for (const auto* input : {"clip.mp4", "clip.y4m"})
            EXPECT_TRUE(pictures_in(ours(one.ours, "out.y4m", input)) == pictures_in(want)) << input;
    }
}

// An odd place has chroma between two samples, and a mirrored row has it on the other side of its pixels.
TEST_F(MovedPixels, AreMovedAsBgrWhereChromaWouldNotFit) {
    EXPECT_EQ(frames_in(ours("crop=63:47:3:5", "odd.y4m")), 10);
    EXPECT_EQ(frames_in(ours("flip", "mirrored.y4m")), 10);
    EXPECT_TRUE(pictures_in(folder_ / "mirrored.y4m") != pictures_in(ours("", "whole.y4m")));
    ours("flip,flip", "back.y4m");
    EXPECT_EQ(pictures_in(folder_ / "back.y4m").size(), pictures_in(folder_ / "whole.y4m").size());
}

}  // namespace moved_pixels_test
}  // namespace framewire::e2e
