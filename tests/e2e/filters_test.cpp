// Compares filters that have an equivalent in FFmpeg or ImageMagick with these programs.
#include "e2e/program.hpp"
#include "e2e/shell.hpp"
#include "kit/needs.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace framewire::e2e {
namespace {

const std::string vtest = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";

Result run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "-y", "--backend", "cpu", "--progress", "none"});
    return run_framewire(std::move(arguments));
}

// Returns the hashes of a video's frames, with their times.
std::string frames_of(const std::string& path) {
    return printed_by(
        "ffmpeg -nostdin -v error -i " + path +
        " -map 0:v -vf settb=1/1000,setpts=PTS-STARTPTS -fps_mode passthrough -f framemd5 - | grep -v '^#'");
}

// Fixture with a few frames of a real clip.
class Filters : public testing::Test {
protected:
    void SetUp() override {
        FRAMEWIRE_NEEDS(std::filesystem::exists(vtest), "vtest.avi is missing (Debian: opencv-doc)");
        ASSERT_TRUE(
            ffmpeg("-ss 6 -i " + vtest + " -frames:v 8 -vf crop=160:120:300:150 -c:v ffv1 -pix_fmt bgr0 " + in_));
    }
    void make(const std::string& ours, const std::string& theirs) {
        const auto made = run({"-i", in_, "-f", ours, "-o", ours_});
        ASSERT_EQ(made.code, 0) << made.err;
        ASSERT_TRUE(ffmpeg("-i " + in_ + " " + theirs + " -c:v ffv1 -pix_fmt bgr0 " + theirs_)) << theirs;
    }

    TemporaryFolder folder_;
    std::string in_ = folder_ / "in.mkv", ours_ = folder_ / "ours.mkv", theirs_ = folder_ / "theirs.mkv";
};

TEST_F(Filters, RateConversionDropsAndRepeatsTheSameFramesAsFfmpeg) {
    for (const std::string rate : {"4", "30000/1001"}) {
        make("fps=" + rate, "-vf fps=" + rate);
        EXPECT_EQ(frames_of(ours_), frames_of(theirs_)) << rate;
    }
}

TEST_F(Filters, ShowsOriginalAndResultSideBySide) {
    for (const auto& [mode, stack] : {std::pair{"left", "[a][c]hstack"},
                                      {"right", "[c][a]hstack"},
                                      {"above", "[a][c]vstack"},
                                      {"below", "[c][a]vstack"}}) {
        make("flip,compare=" + std::string(mode), "-vf 'split[a][b];[b]hflip[c];" + std::string(stack) + "'");
        EXPECT_EQ(frames_of(ours_), frames_of(theirs_)) << mode;
    }
}

TEST_F(Filters, ScaledFramesAreCloseToFfmpeg) {
    for (const auto& [method, size] :
         {std::pair{"area", "80:60"}, {"bilinear", "250:-2"}, {"bicubic", "80:60"}, {"lanczos", "250:-2"}}) {
        make("scale=" + std::string(size) + ":" + method,
             "-vf scale=" + std::string(size) + ":flags=accurate_rnd+" + method);
        EXPECT_GT(psnr(ours_, theirs_, "average"), 38) << method;
    }
}

// Deinterlaced frames are close to the originals, and much closer than the interlaced ones.
TEST_F(Filters, DeinterlacedFramesAreCloseToTheOriginals) {
    const auto combs = folder_ / "combs.mkv", originals = folder_ / "originals.mkv";
    ASSERT_TRUE(ffmpeg("-i " + in_ + " -vf format=yuv444p,tinterlace=interleave_top -c:v ffv1 " + combs));
    ASSERT_TRUE(ffmpeg("-i " + in_ + " -vf \"select='not(mod(n,2))',format=yuv444p\" -fps_mode passthrough -c:v ffv1 " +
                       originals));
    ASSERT_EQ(run({"-i", combs, "-f", "deinterlace", "-o", ours_ + ":pixels=bgr0"}).code, 0);
    EXPECT_GT(psnr(ours_, originals, "y"), psnr(combs, originals, "y") + 4);
}

TEST(Pictures, AreRotatedLikeImageMagick) {
    const TemporaryFolder folder;
    ASSERT_EQ(run({"-i", "synth:size=50x30", "--frames", "1", "-o", folder / "flat.png"}).code, 0);
    for (const std::string orientation : {"TopRight", "BottomRight", "RightTop", "LeftBottom", "RightBottom"}) {
        ASSERT_EQ(printed_by("convert " + (folder / "flat.png") + " -orient " + orientation + " " + (folder / "a.tif")),
                  "");
        ASSERT_EQ(printed_by("convert " + (folder / "a.tif") + " -auto-orient " + (folder / "theirs.png")), "");
        ASSERT_EQ(run({"-i", folder / "a.tif", "-o", folder / "ours.png"}).code, 0);
        EXPECT_EQ(printed_by("compare -metric AE " + (folder / "ours.png") + " " + (folder / "theirs.png") + " null:"),
                  "0")
            << orientation;
    }
}

}  // namespace
}  // namespace framewire::e2e
