#include "program.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

// Runs on the CPU, so that what is expected does not depend on the machine.
Result hog(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"hog", "--backend", "cpu"});
    return run_framewire(std::move(arguments));
}

// A picture of `size` as FFmpeg draws it: a figure of `scale` times a window of 64x128 with its corner at (x, y).
std::string with_figure(const std::string& size, int x, int y, int scale) {
    const auto box = [&](int left, int top, int width, int height) {
        const auto number = [&](int pixels) { return std::to_string(pixels * scale); };
        return ",drawbox=x=" + std::to_string(x + left * scale) + ":y=" + std::to_string(y + top * scale) +
               ":w=" + number(width) + ":h=" + number(height) + ":color=white:t=fill";
    };
    return "lavfi:color=0x404040:size=" + size + ":rate=5" + box(26, 14, 12, 16) + box(20, 32, 24, 38) +
           box(20, 70, 9, 40) + box(35, 70, 9, 40);
}

const std::string scene = with_figure("320x240", 96, 40, 1);

// The descriptor of the figure is a model of it: the product with itself is the largest there is.
class HogPeople : public testing::Test {
protected:
    void SetUp() override {
        const auto result =
            hog({"-i", with_figure("64x128", 0, 0, 1), "--frames", "1", "-o", model, "--norm", "l2hys"});
        ASSERT_EQ(result.code, 0) << result.err;
    }

    Result people(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"--people", model, "--frames", "2", "--threshold", "45"});
        return hog(std::move(arguments));
    }

    const TemporaryFolder folder;
    const std::string model = folder / "model.npy";
};

std::vector<Json> lines_of(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return lines;
}

TEST_F(HogPeople, FindsAFigureWhereItIs) {
    const auto result = people({"-i", scene});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto lines = lines_of(result.out);
    ASSERT_EQ(lines.size(), 2u);
    for (int frame = 0; frame < 2; ++frame) {
        const auto& line = lines[static_cast<std::size_t>(frame)];
        EXPECT_EQ(line["frame"], frame);
        EXPECT_EQ(line["width"], 320);
        EXPECT_EQ(line["height"], 240);
        ASSERT_EQ(line["objects"].size(), 1u) << line;
        const auto& person = line["objects"][0];
        EXPECT_EQ(person["id"], 1);
        EXPECT_EQ(person["box"], (std::vector<int>{96, 40, 64, 128}));
        EXPECT_EQ(person["area"], 64 * 128);
        EXPECT_EQ(person["centroid"], (std::vector<double>{127.5, 103.5}));
        EXPECT_GT(person["score"], 45);
    }
    EXPECT_TRUE(lines_of(people({"-i", "lavfi:color=gray:size=320x240:rate=5"}).out)[0]["objects"].empty());
}

TEST_F(HogPeople, FindsSmallerAndLargerOnes) {
    const auto large = with_figure("480x320", 192, 32, 2);
    const auto box = [&](std::vector<std::string> arguments) {
        const auto result = people(std::move(arguments));
        EXPECT_EQ(result.code, 0) << result.err;
        const auto objects = lines_of(result.out)[0]["objects"];
        return objects.empty() ? Json() : objects[0]["box"];
    };
    EXPECT_EQ(box({"-i", large, "--scale-step", "2"}), (std::vector<int>{192, 32, 128, 256}));
    EXPECT_EQ(box({"-i", large, "--scale-step", "2", "--max-height", "255"}), Json());
    EXPECT_EQ(box({"-i", large, "--min-height", "256", "--max-height", "256"}), (std::vector<int>{192, 32, 128, 256}));
    EXPECT_EQ(box({"-i", scene, "--min-height", "200"}), Json());
}

TEST_F(HogPeople, WritesRecordsAnnotatedFramesAndASummary) {
    const auto result = people({"-i", scene, "-o", folder / "boxes.jsonl", "--annotate", folder / "seen.bgr", "--json",
                                "--stats", folder / "stats.json"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(lines_of(contents(folder / "boxes.jsonl")).size(), 2u);
    const auto seen = contents(folder / "seen.bgr");
    ASSERT_EQ(seen.size(), 2u * 320 * 240 * 3);
    const auto pixel = [&](std::size_t x, std::size_t y) { return seen.substr((y * 320 + x) * 3, 3); };
    EXPECT_EQ(pixel(96, 40), std::string("\0\0\xff", 3)) << "the box's corner is red";
    EXPECT_EQ(pixel(159, 167), std::string("\0\0\xff", 3));
    ASSERT_EQ(run_framewire({"run", "--backend", "cpu", "-i", scene, "-o", folder / "plain.bgr", "--frames", "1"}).code,
              0);
    const auto plain = contents(folder / "plain.bgr");
    for (std::size_t y = 0; y < 240; ++y)
        for (std::size_t x = 0; x < 320; ++x) {
            if (x >= 96 && x < 160 && y >= 40 && y < 168) continue;
            ASSERT_EQ(pixel(x, y), plain.substr((y * 320 + x) * 3, 3)) << "(" << x << ", " << y << ")";
        }

    const auto summary = Json::parse(result.out);
    EXPECT_EQ(summary["frames"], 2);
    EXPECT_EQ(summary["people"], 2);
    EXPECT_EQ(summary["window"], (std::vector<int>{64, 128}));
    EXPECT_GT(summary["windows"], 400);
    EXPECT_EQ(summary["threshold"], 45.0);
    EXPECT_GT(summary["best_score"], 45.0);
    EXPECT_EQ(Json::parse(contents(folder / "stats.json"))["filters"][0]["found"], 2);
    EXPECT_EQ(folder.names(),
              (std::vector<std::string>{"boxes.jsonl", "model.npy", "plain.bgr", "seen.bgr", "stats.json"}));
}

TEST_F(HogPeople, FiltersComeBefore) {
    const auto result = people({"-i", scene, "-f", "adjust=brightness=-255"});
    ASSERT_EQ(result.code, 0) << result.err;
    for (const auto& line : lines_of(result.out)) EXPECT_TRUE(line["objects"].empty());
}

// Descriptors of another kind make another model, whose parameters are given as for the descriptors themselves.
TEST_F(HogPeople, TakesOtherWindowsAndDescriptors) {
    const std::vector<std::string> kind{"--cell", "16", "--bins", "6", "--signed", "--norm", "none"};
    auto make = kind;
    make.insert(make.end(), {"-i", with_figure("64x128", 0, 0, 1), "--frames", "1", "-o", folder / "other.npy"});
    ASSERT_EQ(hog(make).code, 0);
    auto find = kind;
    find.insert(find.end(), {"-i", with_figure("320x240", 96, 48, 1), "--frames", "1", "--people", folder / "other.npy",
                             "--scale-step", "2", "--threshold", "1e6"});
    const auto result = hog(find);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(lines_of(result.out)[0]["objects"][0]["box"], (std::vector<int>{96, 48, 64, 128}));
    find.insert(find.end(), {"--window", "64x112"});
    EXPECT_EQ(hog(find).code, 2) << "the weights are those of another window";
}

TEST_F(HogPeople, RefusesWhatIsNotAllowed) {
    std::ofstream(folder / "broken.txt") << "1 2 3\n";
    const auto names = folder.names();
    const struct {
        std::vector<std::string> arguments;
        int code;
        std::string says;
    } all[] = {
        {{"--people", model, "-i", scene, "--scale-step", "1.01"}, 2, "1.05 to 2"},
        {{"--people", model, "-i", scene, "--overlap", "1.5"}, 2, "0 to 1"},
        {{"--people", model, "-i", scene, "--threshold", "nan"}, 2, "finite"},
        {{"--people", model, "-i", scene, "--min-height", "63"}, 2, "half of the model's"},
        {{"--people", model, "-i", scene, "--max-height", "100"}, 2, "100"},
        {{"--people", model, "-i", scene, "--window", "64"}, 2, "64x128"},
        {{"--people", model, "-i", scene, "--window", "60x128"}, 2, "60x128"},
        {{"--people", model, "-i", scene, "--window", "64x128x1"}, 2, "64x128"},
        {{"--people", model, "-i", scene, "--bins", "8"}, 2, "weights"},
        {{"--people", model, "-i", "lavfi:color=gray:size=60x128"}, 2, "smaller than the smallest window"},
        {{"--people", model, "-i", scene, "--steps", folder / "steps"}, 2, "--steps"},
        {{"--people", model, "-i", scene, "--json"}, 2, "standard output"},
        {{"--people", folder / "missing.npy", "-i", scene}, 66, "missing.npy"},
        {{"--people", folder / "broken.txt", "-i", scene}, 2, "broken.txt"},
        {{"-i", scene, "-o", folder / "h.npy", "--annotate", folder / "a.mp4"}, 2, "--people"},
        {{"-i", scene, "-o", folder / "h.npy", "--threshold", "1"}, 2, "--people"},
        {{"-i", scene, "-o", folder / "h.npy", "--window", "64x128"}, 2, "--people"},
        {{"-i", scene}, 2, "-o"},
    };
    for (const auto& refused : all) {
        auto arguments = refused.arguments;
        arguments.insert(arguments.end(), {"--frames", "1"});
        const auto result = hog(arguments);
        std::string line;
        for (const auto& argument : refused.arguments) line += argument + " ";
        EXPECT_EQ(result.code, refused.code) << line << ": " << result.err;
        EXPECT_NE(result.err.find(refused.says), std::string::npos) << line << ": " << result.err;
        EXPECT_EQ(folder.names(), names) << line;
    }
}

}  // namespace
}  // namespace framewire::e2e
