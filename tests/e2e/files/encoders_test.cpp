// Tests encoder selection and quality with FFmpeg's own programs.
#include "e2e/program.hpp"
#include "e2e/shell.hpp"
#include "kit/needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace framewire::e2e {
namespace {

Result run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "--backend", "cpu", "--progress", "none"});
    return run_framewire(std::move(arguments));
}

const std::string vtest = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";

TEST(Encoders, TheDefaultMatchesFfmpegQualityAtTheSameSize) {
    FRAMEWIRE_NEEDS(std::filesystem::exists(vtest), "vtest.avi is missing (Debian: opencv-doc)");
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-i " + vtest + " -frames:v 60 -c:v ffv1 " + (folder / "in.mkv")));
    ASSERT_TRUE(ffmpeg("-i " + (folder / "in.mkv") + " -crf 20 " + (folder / "theirs.mp4")));
    const auto made = run({"-i", folder / "in.mkv", "-o", folder / "ours.mp4"});
    ASSERT_EQ(made.code, 0) << made.err;
    const auto ours = static_cast<double>(std::filesystem::file_size(folder / "ours.mp4"));
    const auto theirs = static_cast<double>(std::filesystem::file_size(folder / "theirs.mp4"));
    EXPECT_LT(ours, 1.03 * theirs);
    const auto our_words = psnr_words(folder / "ours.mp4", folder / "in.mkv");
    const auto their_words = psnr_words(folder / "theirs.mp4", folder / "in.mkv");
    for (const auto* plane : {"y", "average"}) {
        const auto our_db = decibels(our_words, plane);
        const auto their_db = decibels(their_words, plane);
        EXPECT_GT(their_db, 30);
        EXPECT_GT(our_db, their_db - 0.3) << plane;
    }
}

struct Choice {
    const char *output, *probed;
};

class EncoderChoices : public testing::TestWithParam<Choice> {};

TEST_P(EncoderChoices, SelectTheWrittenCodec) {
    const TemporaryFolder folder;
    const std::string output = GetParam().output;
    const auto made = run({"-i", "synth:size=128x96:fps=25:seed=1", "--frames", "8", "-o", folder / output});
    ASSERT_EQ(made.code, 0) << made.err;
    const auto names = folder.names();
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(probed(folder / names[0], "stream=codec_name,width,height,pix_fmt"),
              std::string(GetParam().probed) + "\n");
    EXPECT_EQ(frames_in(folder / names[0]), 8);
}

INSTANTIATE_TEST_SUITE_P(All, EncoderChoices,
                         testing::Values(Choice{"a.mp4:codec=libx265:crf=18:preset=ultrafast", "hevc,128,96,yuv420p"},
                                         Choice{"a.MP4", "h264,128,96,yuv420p"}, Choice{"a.Mov", "h264,128,96,yuv420p"},
                                         Choice{"a:b.mkv:codec=libx264:crf=30", "h264,128,96,yuv420p"},
                                         Choice{"a.mp4:pixels=yuv444p", "h264,128,96,yuv444p"},
                                         Choice{"a.webm:crf=40", "vp9,128,96,yuv420p"},
                                         Choice{"a.gif", "gif,128,96,bgra"},
                                         Choice{"a.avi:codec=mpeg4", "mpeg4,128,96,yuv420p"},
                                         Choice{"a.mkv:codec=hevc:bitrate=300000", "hevc,128,96,yuv420p"}));

TEST(Encoders, LowerQualityProducesSmallerFiles) {
    const TemporaryFolder folder;
    for (const auto* crf : {"15", "35"})
        ASSERT_EQ(
            run({"-i", "synth:size=128x96", "--frames", "10", "-o", folder / (std::string(crf) + ".mp4:crf=" + crf)})
                .code,
            0);
    EXPECT_LT(2 * std::filesystem::file_size(folder / "35.mp4"), std::filesystem::file_size(folder / "15.mp4"));
}

TEST(Encoders, RejectsUnavailableEncoders) {
    const TemporaryFolder folder;
    for (const std::string codec : {"h264_nvenc", "h264_vaapi"}) {
        const auto result = run({"-i", "synth:size=320x240", "--frames", "2", "-o", folder / ("a.mp4:codec=" + codec)});
        if (result.code == 0) continue;  // this machine has the encoder
        EXPECT_EQ(result.code, 78) << result.err;
        EXPECT_NE(result.err.find("the encoder " + codec + " cannot be used on this machine"), std::string::npos)
            << result.err;
        EXPECT_TRUE(folder.names().empty());
    }
}

// ImageMagick checks the file, because the installed FFmpeg does not read animated WebP.
TEST(Encoders, SeveralFramesProduceAnAnimatedWebp) {
    const TemporaryFolder folder;
    const auto identified = [&](const std::string& name) {
        return printed_by("identify -format '%wx%h %T %n\n' '" + (folder / name) + "'");
    };
    for (const std::string how : {"", ":quality=100"}) {
        ASSERT_EQ(run({"-y", "-i", "synth:size=67x45:fps=5", "--frames", "3", "-o", folder / ("a.webp" + how)}).code,
                  0);
        EXPECT_EQ(identified("a.webp").substr(0, 22), "67x45 20 3\n67x45 20 3\n");
        // Compare complete images, because a frame of the file may contain only what changed.
        EXPECT_EQ(printed_by("convert '" + (folder / "a.webp") + "' -coalesce '" + (folder / "whole-%d.png") + "'"),
                  "");
        for (const int frame : {0, 2}) {
            const auto number = std::to_string(frame);
            ASSERT_EQ(run({"-y", "-i", "synth:size=67x45:fps=5", "--start", std::to_string(frame / 5.0), "--frames",
                           "1", "-o", folder / "one.png"})
                          .code,
                      0);
            const auto db = printed_by("compare -metric PSNR '" + (folder / ("whole-" + number + ".png")) + "' '" +
                                       (folder / "one.png") + "' null:");
            EXPECT_TRUE(how.empty() ? std::stod(db) > 25 : db == "inf") << frame << how << ": " << db;
        }
    }
    ASSERT_EQ(run({"-i", "synth:size=67x45", "--frames", "1", "-o", folder / "still.webp"}).code, 0);
    EXPECT_EQ(probed(folder / "still.webp", "stream=codec_name,width,height"), "webp,67,45\n");
    EXPECT_EQ(contents(folder / "still.webp").find("ANIM"), std::string::npos);
}

TEST(Encoders, OddSizesArePreserved) {
    const TemporaryFolder folder;
    for (const auto* name : {"a.mp4", "a.mov", "a.webm", "a.gif", "a.avi", "a.mp4:codec=libx265:preset=ultrafast"}) {
        const auto made = run({"-y", "-i", "synth:size=67x45", "--frames", "3", "-o", folder / name});
        ASSERT_EQ(made.code, 0) << name << made.err;
        const auto path = folder / std::string(name).substr(0, std::string(name).find(':'));
        EXPECT_EQ(probed(path, "stream=width,height"), "67,45\n") << name;
    }
}

}  // namespace
}  // namespace framewire::e2e
