#include "e2e/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

const std::string room = "synth:size=320x180:fps=10:objects=4:seed=3:noise=3";

// Runs `hog` on the CPU, so that the expected results do not depend on the machine.
Result hog(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"hog", "--backend", "cpu"});
    return run_framewire(std::move(arguments));
}

struct Npy {
    std::string shape;
    std::vector<float> values;
};

Npy read_npy(const std::string& path) {
    const auto bytes = contents(path);
    const auto begin = bytes.find("'shape': "), end = bytes.find('\n');
    if (begin == std::string::npos || end == std::string::npos) {
        ADD_FAILURE() << path << " is no .npy";
        return {};
    }
    const auto first = begin + std::strlen("'shape': ");
    Npy npy{bytes.substr(first, bytes.find(')', first) + 1 - first), {}};
    npy.values.resize((bytes.size() - end - 1) / sizeof(float));
    std::memcpy(npy.values.data(), bytes.data() + end + 1, npy.values.size() * sizeof(float));
    return npy;
}

TEST(Hog, VideoDescriptorsHaveFramesAsFirstAxis) {
    const TemporaryFolder folder;
    const auto result = hog({"-i", room, "-o", folder / "v.npy", "--frames", "7", "--stats", folder / "stats.json"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "");
    const auto npy = read_npy(folder / "v.npy");
    EXPECT_EQ(npy.shape, "(7, 22, 40, 9)");
    ASSERT_EQ(npy.values.size(), 7u * 22 * 40 * 9);
    EXPECT_GT(*std::ranges::max_element(npy.values), 100);
    EXPECT_NE(contents(folder / "stats.json").find("\"frames\":"), std::string::npos);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"stats.json", "v.npy"}));
}

// An image of the video's first frame gives the video's first descriptors, but without a frame axis.
TEST(Hog, ImageDescriptorsHaveNoFrameAxis) {
    const TemporaryFolder folder;
    ASSERT_EQ(run_framewire({"run", "--backend", "cpu", "-i", room, "-o", folder / "f.png", "--frames", "1"}).code, 0);
    ASSERT_EQ(hog({"-i", folder / "f.png", "-o", folder / "f.npy", "--cell", "16"}).code, 0);
    ASSERT_EQ(hog({"-i", room, "-o", folder / "v.npy", "--cell", "16", "--frames", "2"}).code, 0);
    const auto image = read_npy(folder / "f.npy"), video = read_npy(folder / "v.npy");
    EXPECT_EQ(image.shape, "(11, 20, 9)");
    EXPECT_EQ(video.shape, "(2, 11, 20, 9)");
    ASSERT_EQ(video.values.size(), 2 * image.values.size());
    EXPECT_TRUE(std::equal(image.values.begin(), image.values.end(), video.values.begin()));
}

TEST(Hog, BlocksAreNormalised) {
    const TemporaryFolder folder;
    const auto result = hog({"-i", room, "-o", folder / "v.npy", "--frames", "1", "--norm", "l2hys", "--block", "3",
                             "--bins", "6", "--signed"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto npy = read_npy(folder / "v.npy");
    EXPECT_EQ(npy.shape, "(1, 20, 38, 54)");
    for (std::size_t block = 0; block < npy.values.size(); block += 54) {
        double sum = 0;
        for (std::size_t i = block; i < block + 54; ++i) sum += static_cast<double>(npy.values[i]) * npy.values[i];
        ASSERT_NEAR(std::sqrt(sum), 1, 1e-4);
    }
}

// Central gradients are between a quarter and a half of Sobel's, which sum four differences; step images are drawn for
// both.
TEST(Hog, CentralGradientsDifferFromSobel) {
    const TemporaryFolder folder;
    ASSERT_EQ(hog({"-i", room, "-o", folder / "sobel.npy", "--frames", "1", "--steps", folder / "sobel"}).code, 0);
    const auto result = hog({"-i", room, "-o", folder / "central.npy", "--frames", "1", "--steps", folder / "central",
                             "--gradient", "central", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(nlohmann::json::parse(result.out)["gradient"], "central");
    const auto sobel = read_npy(folder / "sobel.npy"), central = read_npy(folder / "central.npy");
    EXPECT_EQ(central.shape, sobel.shape);
    const auto sum = [](const Npy& npy) { return std::accumulate(npy.values.begin(), npy.values.end(), 0.0); };
    EXPECT_GT(sum(central), 0.2 * sum(sobel));
    EXPECT_LT(sum(central), 0.6 * sum(sobel));
    EXPECT_EQ(contents(folder / "central/gamma.png"), contents(folder / "sobel/gamma.png"));
    EXPECT_NE(contents(folder / "central/gx.png"), contents(folder / "sobel/gx.png"));
    EXPECT_EQ(hog({"-i", room, "-o", folder / "no.npy", "--gradient", "centre"}).code, 2);
}

TEST(Hog, AppliesFiltersFirst) {
    const TemporaryFolder folder;
    ASSERT_EQ(hog({"-i", room, "-f", "adjust=brightness=-255", "-o", folder / "dark.npy", "--frames", "1"}).code, 0);
    const auto dark = read_npy(folder / "dark.npy");
    ASSERT_FALSE(dark.values.empty());
    EXPECT_EQ(std::ranges::count(dark.values, 0.0f), std::ssize(dark.values)) << "a black picture has no gradients";
}

TEST(Hog, DrawsTheStepsOfTheFirstFrame) {
    const TemporaryFolder folder;
    const auto result =
        hog({"-i", room, "-o", folder / "v.npy", "--frames", "3", "--steps", folder / "new/steps", "--norm", "l2"});
    ASSERT_EQ(result.code, 0) << result.err;
    for (const char* name : {"gray", "gamma", "gx", "gy", "magnitude", "direction", "hog"})
        EXPECT_EQ(frames_in(folder / ("new/steps/" + std::string(name) + ".png")), 1) << name;
    EXPECT_EQ(hog({"-i", room, "-o", folder / "w.npy", "--frames", "3", "--steps", folder / "v.npy"}).code, 74);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"new", "v.npy"}));
}

TEST(Hog, DrawsTheStepsOfTheRequestedFrames) {
    const TemporaryFolder folder;
    const auto result = hog(
        {"-i", room, "-o", folder / "v.npy", "--frames", "5", "--steps", folder / "steps", "--steps-frames", "0,2-3"});
    ASSERT_EQ(result.code, 0) << result.err;
    std::vector<std::string> sets;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "steps"))
        sets.push_back(entry.path().filename());
    std::ranges::sort(sets);
    EXPECT_EQ(sets, (std::vector<std::string>{"000000", "000002", "000003"}));
    for (const auto& set : sets) EXPECT_EQ(frames_in(folder / ("steps/" + set + "/hog.png")), 1) << set;
}

TEST(Hog, WritesAJsonSummary) {
    const TemporaryFolder folder;
    const auto result = hog({"-i", room, "-o", folder / "v.npy", "--frames", "4", "--norm", "l2", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto summary = nlohmann::json::parse(result.out);
    EXPECT_EQ(summary["frames"], 4);
    EXPECT_EQ(summary["shape"], (std::vector<int>{21, 39, 36}));
    EXPECT_EQ(summary["norm"], "l2");
    EXPECT_EQ(summary["block"], 2);
    const auto values = read_npy(folder / "v.npy").values;
    EXPECT_EQ(summary["largest"], *std::ranges::max_element(values));
    EXPECT_NEAR(summary["mean"],
                std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()), 1e-6);
}

// Writes the first `count` frames of the room as images f00.png, f01.png ...
void write_frames(const std::string& into, int count) {
    const auto frames = std::to_string(count);
    ASSERT_EQ(
        run_framewire({"run", "--backend", "cpu", "-i", room, "-o", into + "/f%02d.png", "--frames", frames}).code, 0);
}

TEST(Hog, AFolderOfEquallySizedImagesIsTreatedAsAVideo) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "in");
    write_frames(folder / "in", 4);
    ASSERT_EQ(hog({"-i", room, "-o", folder / "v.npy", "--frames", "4"}).code, 0);
    std::ofstream(folder / "in/notes.txt") << "no image";
    const auto result = hog({"-i", folder / "in", "-o", folder / "f.npy"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.err.find("notes.txt"), std::string::npos) << result.err;
    EXPECT_EQ(contents(folder / "f.npy"), contents(folder / "v.npy"));
    for (int number = 1; number < 4; ++number) std::filesystem::remove(folder / fmt::format("in/f{:02}.png", number));
    ASSERT_EQ(hog({"-i", folder / "in", "-o", folder / "one.npy"}).code, 0);
    EXPECT_EQ(read_npy(folder / "one.npy").shape, "(1, 22, 40, 9)");
}

// A folder that interleaves the frames of two videos, two at a time, gives the same descriptors as the videos, in one
// file per image.
TEST(Hog, AFolderOfMixedSizesProducesOneFilePerImage) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "in");
    const std::vector<std::string> sizes{"64x48", "40x80"};
    const std::vector<std::string> names[] = {{"a", "b", "e", "f", "i"}, {"c", "d", "g", "h"}};
    std::vector<Npy> videos;
    for (std::size_t video = 0; video < 2; ++video) {
        const auto source = "synth:seed=5:objects=2:size=" + sizes[video];
        const auto count = std::to_string(names[video].size());
        ASSERT_EQ(
            run_framewire({"run", "--backend", "cpu", "-i", source, "-o", folder / "%d.png", "--frames", count}).code,
            0);
        for (std::size_t i = 0; i < names[video].size(); ++i)
            std::filesystem::rename(folder / fmt::format("{}.png", i),
                                    folder / fmt::format("in/{}.png", names[video][i]));
        ASSERT_EQ(
            hog({"-y", "-i", source, "-f", "gaussian=3", "-o", folder / "v.npy", "--norm", "l2", "--frames", count})
                .code,
            0);
        videos.push_back(read_npy(folder / "v.npy"));
    }

    const auto result = hog({"-i", folder / "in", "-f", "gaussian=3", "-o", folder / "out/", "--norm", "l2", "--json",
                             "--steps", folder / "steps", "--stats", folder / "stats.json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const std::string shapes[] = {"(5, 7, 36)", "(9, 4, 36)"};
    for (std::size_t video = 0; video < 2; ++video) {
        const auto& all = videos[video].values;
        const auto each = all.size() / names[video].size();
        for (std::size_t i = 0; i < names[video].size(); ++i) {
            const auto got = read_npy(folder / fmt::format("out/{}.npy", names[video][i]));
            EXPECT_EQ(got.shape, shapes[video]);
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * each);
            EXPECT_TRUE(
                std::equal(got.values.begin(), got.values.end(), begin, begin + static_cast<std::ptrdiff_t>(each)))
                << names[video][i];
        }
    }
    EXPECT_EQ(nlohmann::json::parse(result.out)["frames"], 9);
    const auto figures = nlohmann::json::parse(contents(folder / "stats.json"));
    EXPECT_EQ(figures["frames"], 9);
    EXPECT_EQ(figures["raw_bytes"], (5 * 64 * 48 + 4 * 40 * 80) * 3);
    EXPECT_EQ(frames_in(folder / "steps/hog.png"), 1);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"in", "out", "stats.json", "steps", "v.npy"}));

    // The folder now exists, so its name needs no trailing slash.
    std::filesystem::remove_all(folder / "out");
    std::filesystem::create_directory(folder / "out");
    ASSERT_EQ(hog({"-i", folder / "in", "-o", folder / "out", "--frames", "2"}).code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder / "out/b.npy"));
    EXPECT_FALSE(std::filesystem::exists(folder / "out/c.npy"));

    const auto differing = hog({"-i", folder / "in", "-o", folder / "all.npy"});
    EXPECT_EQ(differing.code, 69);
    for (const auto* part : {"in/c.png", "40x80", "in/a.png", "64x48", "the same size"})
        EXPECT_NE(differing.err.find(part), std::string::npos) << differing.err;
    EXPECT_EQ(read_npy(folder / "all.npy").shape, "(2, 6, 8, 9)") << "the images before the failure must be complete";
}

TEST(Hog, ReportsABrokenOrSmallImageAndContinues) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "in");
    write_frames(folder / "in", 4);
    std::ofstream(folder / "in/f02.png") << "broken";
    ASSERT_EQ(run_framewire({"run", "-i", "synth:size=7x7:frames=1", "-o", folder / "in/a.png"}).code, 0);
    const auto result = hog({"-i", folder / "in", "-o", folder / "out/", "--stats", folder / "stats.json"});
    EXPECT_EQ(result.code, 2) << "expected the exit status of the first failure: " << result.err;
    for (const auto* part : {"in/a.png", "7x7", "in/f02.png", "2 of 5 images failed"})
        EXPECT_NE(result.err.find(part), std::string::npos) << part << ": " << result.err;
    for (const auto* whole : {"f00", "f01", "f03"})
        EXPECT_EQ(read_npy(folder / fmt::format("out/{}.npy", whole)).shape, "(22, 40, 9)") << whole;
    for (const auto* failed : {"a", "f02"})
        EXPECT_FALSE(std::filesystem::exists(folder / fmt::format("out/{}.npy", failed))) << failed;
    EXPECT_EQ(nlohmann::json::parse(contents(folder / "stats.json"))["frames"], 3);
    std::filesystem::remove(folder / "in/a.png");
    EXPECT_EQ(hog({"-y", "-i", folder / "in", "-o", folder / "out/"}).code, 69);
    EXPECT_EQ(hog({"-i", folder / "in", "-o", folder / "v.npy"}).code, 69);
    EXPECT_EQ(read_npy(folder / "v.npy").shape, "(2, 22, 40, 9)");
}

TEST(Hog, RejectsInvalidFolderCombinations) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "in");
    const auto refused = [&](const std::vector<std::string>& arguments, int code, const std::string& says) {
        const auto result = hog(arguments);
        EXPECT_EQ(result.code, code) << result.err;
        EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
        EXPECT_EQ(folder.names(), std::vector<std::string>{"in"});
    };
    refused({"-i", folder / "in", "-o", folder / "out/"}, 66, "no videos or images");
    refused({"-i", folder / "in", "-o", folder / "out.npy"}, 66, "no images");
    write_frames(folder / "in", 1);
    refused({"-i", folder / "in", "-o", folder / "out/", "--streams", "2"}, 2, "has only one stream");
    std::filesystem::copy_file(folder / "in/f00.png", folder / "in/f00.PNG");
    refused({"-i", folder / "in", "-o", folder / "out/"}, 2, "would both be written to");
    std::filesystem::remove(folder / "in/f00.PNG");
    ASSERT_EQ(run_framewire(
                  {"run", "--backend", "cpu", "-i", "synth:size=7x64", "-o", folder / "in/f01.png", "--frames", "1"})
                  .code,
              0);
    const auto small = hog({"-i", folder / "in", "-o", folder / "out/"});
    EXPECT_EQ(small.code, 2);
    EXPECT_NE(small.err.find("f01.png"), std::string::npos) << small.err;
    EXPECT_TRUE(std::filesystem::exists(folder / "out/f00.npy"));
}

struct HogRefused {
    const char* name;
    std::vector<std::string> arguments;
    int code;
    std::string says;
};

class HogRefusal : public testing::TestWithParam<HogRefused> {};

TEST_P(HogRefusal, ReportsTheReasonAndLeavesNoFile) {
    const TemporaryFolder folder;
    auto arguments = GetParam().arguments;
    if (std::ranges::find(arguments, "-o") == arguments.end())
        arguments.insert(arguments.end(), {"-o", folder / "hog.npy", "--frames", "3"});
    const auto result = hog(arguments);
    EXPECT_EQ(result.code, GetParam().code) << result.err;
    EXPECT_NE(result.err.find(GetParam().says), std::string::npos) << result.err;
    EXPECT_TRUE(folder.names().empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, HogRefusal,
    testing::Values(HogRefused{"InvalidCell", {"-i", room, "--cell", "3"}, 2, "4 to 64"},
                    HogRefused{"InvalidBins", {"-i", room, "--bins", "37"}, 2, "2 to 36"},
                    HogRefused{"UnknownNorm", {"-i", room, "--norm", "l3"}, 2, "--norm"},
                    HogRefused{"InvalidBlock", {"-i", room, "--norm", "l2", "--block", "9"}, 2, "1 to 8"},
                    HogRefused{"BlockWithoutNorm", {"-i", room, "--block", "2"}, 2, "--norm"},
                    HogRefused{"SmallerThanABlock",
                               {"-i", "synth:size=64x64", "--cell", "64", "--norm", "l2"},
                               2,
                               "smaller than a block"},
                    HogRefused{"TooManyStreams", {"-i", room, "--streams", "9"}, 2, "1 to 8"},
                    HogRefused{"ZeroStreams", {"-i", room, "--streams", "0"}, 2, "1 to 8"},
                    HogRefused{"SeveralStreamsOnTheCpu", {"-i", room, "--streams", "2"}, 2, "has only one stream"},
                    HogRefused{"TwoOutputsToStandardOutput", {"-i", room, "-o", "-", "--json"}, 2, "both write"},
                    HogRefused{"VideoToStandardOutput", {"-i", room, "-o", "-"}, 2, "standard output"},
                    HogRefused{"NoSuchFile", {"-i", "/no/such/file.mp4"}, 66, "/no/such/file.mp4"}),
    [](const auto& refused) { return refused.param.name; });

}  // namespace
}  // namespace framewire::e2e
