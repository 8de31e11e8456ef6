// Tests that filters which only move pixels keep the decoded planes: results are compared with FFmpeg, which moves
// planes too.

#include "e2e/program.hpp"
#include "e2e/shell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace {

// Returns the bytes of a y4m file after its first line.
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

TEST_F(MovedPixels, EqualFfmpegByteForByte) {
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

// Returns the luma of all frames of a 4:2:0 y4m file with even sides.
std::string luma_in(const std::string& path, int width, int height) {
    const auto pictures = pictures_in(path);
    const auto line = std::string("\nFRAME").size(), pixels = static_cast<std::size_t>(width * height);
    const auto each = line + pixels + pixels / 2;
    std::string luma;
    for (std::size_t at = 0; at + each < pictures.size(); at += each) luma += pictures.substr(at + line + 1, pixels);
    return luma;
}

// After a rotation or with mirrored rows, the chroma samples lie on the other side of their pixels, so chroma is
// blended; luma is only moved.
TEST_F(MovedPixels, LumaEqualsFfmpegWhenChromaIsBlended) {
    for (const auto& [own, ffmpegs] : {std::pair{"flip", "hflip"},
                                       {"rotate=90", "transpose=clock"},
                                       {"rotate=270", "transpose=cclock"},
                                       {"rotate=90,rotate=180", "transpose=cclock"},
                                       {"rotate=180", "hflip,vflip"}}) {
        SCOPED_TRACE(own);
        const auto want = folder_ / "want.y4m", have = ours(own, "out.y4m");
        ASSERT_TRUE(ffmpeg("-i " + clip_ + " -vf " + ffmpegs + " " + want));
        const bool upright = std::string(own).find("90") == std::string::npos && std::string(own) != "rotate=270";
        const int width = upright ? 128 : 96, height = upright ? 96 : 128;
        EXPECT_EQ(luma_in(want, width, height).size(), 10U * 128 * 96);
        EXPECT_TRUE(luma_in(have, width, height) == luma_in(want, width, height));
        EXPECT_TRUE(pictures_in(have) != pictures_in(want)) << "FFmpeg leaves chroma displaced relative to luma";
    }
    EXPECT_EQ(frames_in(ours("crop=63:47:3:5", "odd.y4m")), 10);
}

// Scaled planes come close to FFmpeg's, which scales planes too; a picture of half the size has fewer chroma samples.
TEST_F(MovedPixels, ScalingIsCloseToFfmpeg) {
    for (const auto& [own, ffmpegs] : {std::pair{"scale=64:48:area", "scale=64:48:flags=accurate_rnd+area"},
                                       {"scale=160:120:bicubic", "scale=160:120:flags=accurate_rnd+bicubic"}}) {
        SCOPED_TRACE(own);
        ASSERT_TRUE(ffmpeg("-i " + clip_ + " -vf " + ffmpegs + " " + (folder_ / "want.y4m")));
        EXPECT_GT(psnr(ours(own, "out.y4m"), folder_ / "want.y4m", "y"), 35);
    }
}

}  // namespace
}  // namespace framewire::e2e
