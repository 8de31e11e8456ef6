// Compares results on real clips and pictures, if present, with FFmpeg and with hand-made annotations.
#include "e2e/program.hpp"
#include "e2e/real_data.hpp"
#include "e2e/shell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

namespace framewire::e2e {
namespace {

namespace fs = std::filesystem;

// Returns the first files, sorted by name, of each folder in a folder.
std::vector<std::string> some_of(const std::string& folder, std::size_t most) {
    std::vector<std::string> all;
    for (const auto& kind : fs::directory_iterator(folder)) {
        std::vector<std::string> files;
        for (const auto& entry : fs::directory_iterator(kind.path())) files.push_back(entry.path());
        std::ranges::sort(files);
        files.resize(std::min(files.size(), most));
        all.insert(all.end(), files.begin(), files.end());
    }
    return all;
}

TEST(RealClips, AreReadLikeFfmpeg) {
    const auto clips = real_data("codec_video");
    FRAMEWIRE_NEEDS_REAL(clips);
    const TemporaryFolder folder;
    const auto ours = folder / "ours.mkv", theirs = folder / "theirs.mkv";
    int compared = 0;
    for (const auto& clip : some_of(clips, 2)) {
        if (clip.ends_with(".yuv") || clip.ends_with(".jpg")) continue;
        const auto made = run_framewire(
            {"run", "-y", "--backend", "cpu", "--progress", "none", "-i", clip, "--frames", "3", "-o", ours});
        ASSERT_EQ(made.code, 0) << made.err;
        ASSERT_TRUE(ffmpeg("-i " + clip + " -frames:v 3 -c:v ffv1 -pix_fmt bgr0 " + theirs)) << clip;
        EXPECT_EQ(frames_in(ours), std::min(3, frames_in(theirs))) << clip;
        EXPECT_GT(psnr(ours, theirs, "average"), 33) << clip << ": the only expected difference is smoother chroma";
        ++compared;
    }
    EXPECT_GT(compared, 5);
}

TEST(RealClips, BrokenClipsAreReported) {
    const auto broken = real_data("malformed");
    FRAMEWIRE_NEEDS_REAL(broken);
    const TemporaryFolder folder;
    for (const auto& file : some_of(broken, 3)) {
        const auto result = run_framewire({"run", "-y", "--backend", "cpu", "-i", file, "-o", folder / "out.mkv"});
        EXPECT_TRUE(result.code == 0 || result.code == 66 || result.code == 69) << file << result.err;
        if (result.code != 0) {
            EXPECT_NE(result.err.find("framewire: error: "), std::string::npos) << file;
            EXPECT_NE(result.err.find(fs::path(file).filename()), std::string::npos) << result.err;
        }
        fs::remove(folder / "out.mkv");
        EXPECT_TRUE(folder.names().empty()) << file;
    }
}

// Compares found pixels with annotated ones: 2 * both / (found + annotated).
class Score {
public:
    void add(bool found, bool is_there) {
        both_ += found && is_there;
        found_ += found;
        there_ += is_there;
    }
    double f() const { return 2.0 * static_cast<double>(both_) / static_cast<double>(found_ + there_); }

private:
    std::int64_t both_ = 0, found_ = 0, there_ = 0;
};

// Returns the gray values of a picture as decoded by FFmpeg.
std::string gray_values(const TemporaryFolder& folder, const std::string& path) {
    EXPECT_TRUE(ffmpeg("-i " + path + " -f rawvideo -pix_fmt gray " + (folder / "values"))) << path;
    return contents(folder / "values");
}

// docs/decisions/documents.md quotes these figures.
TEST(RealPages, TheDocumentMethodFindsInk) {
    const auto pages = real_data("documents");
    FRAMEWIRE_NEEDS_REAL(pages);
    const TemporaryFolder folder;
    const auto mean_f = [&](const std::string& method) {
        double sum = 0;
        for (const std::string page : {"H01", "H03", "H04", "P01", "P04"}) {
            const auto name = pages + "/dibco2009/DIBCO2009_" + page;
            const auto made = run_framewire({"run", "-y", "--backend", "cpu", "-i", name + "_source.png", "-f",
                                             "binarize=" + method + ",gray=channels=1", "-o", folder / "ink.gray"});
            EXPECT_EQ(made.code, 0) << made.err;
            const auto found = contents(folder / "ink.gray"), truth = gray_values(folder, name + "_target.png");
            EXPECT_EQ(found.size(), truth.size());
            Score score;
            for (std::size_t at = 0; at < std::min(found.size(), truth.size()); ++at)
                score.add(found[at] == 0, static_cast<std::uint8_t>(truth[at]) < 128);
            sum += score.f();
        }
        return sum / 5;
    };
    const auto document = mean_f("document");
    EXPECT_GT(document, .89);
    EXPECT_GT(document, mean_f("sauvola"));
}

// The default settings on a quiet road.
TEST(RealScenes, MovingObjectsAreFound) {
    const auto scene = real_data("moving_objects/cdnet_highway_0370-0569");
    FRAMEWIRE_NEEDS_REAL(scene);
    const TemporaryFolder folder;
    const auto made = run_framewire({"detect", "--backend", "cpu", "-i", scene + "/input", "-o", folder / "boxes.jsonl",
                                     "--mask", folder / "mask.gray"});
    ASSERT_EQ(made.code, 0) << made.err;
    constexpr std::size_t pixels = 320 * 240, first_truth = 100;
    const auto masks = contents(folder / "mask.gray");
    ASSERT_EQ(masks.size(), 200 * pixels);
    ASSERT_TRUE(ffmpeg("-start_number 470 -i " + scene + "/groundtruth/gt%06d.png -f rawvideo -pix_fmt gray " +
                       (folder / "truth.gray")));
    const auto truth = contents(folder / "truth.gray");
    ASSERT_EQ(truth.size(), 100 * pixels);
    Score score;
    for (std::size_t at = 0; at < truth.size(); ++at) {
        const auto marked = static_cast<std::uint8_t>(truth[at]);
        const bool is_unknown = marked == 85 || marked == 170;
        if (!is_unknown) score.add(masks[first_truth * pixels + at] != 0, marked == 255);
    }
    EXPECT_GT(score.f(), .95);
}

}  // namespace
}  // namespace framewire::e2e
