#include "e2e/program.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

// Runs `hog` on the CPU, so that the expected results do not depend on the machine.
Result hog(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"hog", "--backend", "cpu"});
    return run_framewire(std::move(arguments));
}

// Returns an image of `size` drawn by FFmpeg: a figure in `scale` times a 64x128 window with its corner at (x, y).
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

// The figure's descriptor serves as the model, because its product with itself is the largest possible.
class HogPeople : public testing::Test {
protected:
    void SetUp() override {
        const auto result =
            hog({"-i", with_figure("64x128", 0, 0, 1), "--frames", "1", "-o", model, "--norm", "l2hys"});
        ASSERT_EQ(result.code, 0) << result.err;
    }

    Result people(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(),
                         {"--people", model, "--frames", "2", "--threshold", "45", "--group", "overlap"});
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

TEST_F(HogPeople, FindsAFigureAtItsPosition) {
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

TEST_F(HogPeople, FindsSmallerAndLargerFigures) {
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
    EXPECT_EQ(summary["group"], "overlap");
    EXPECT_GT(summary["best_score"], 45.0);
    EXPECT_EQ(Json::parse(contents(folder / "stats.json"))["filters"][0]["found"], 2);
    EXPECT_EQ(folder.names(),
              (std::vector<std::string>{"boxes.jsonl", "model.npy", "plain.bgr", "seen.bgr", "stats.json"}));
}

// Fixture with a folder of images drawn by FFmpeg, each with its own size.
class HogPeopleInFolder : public HogPeople {
protected:
    void SetUp() override {
        HogPeople::SetUp();
        std::filesystem::create_directory(in);
    }

    void draw(const std::string& name, const std::string& source) const {
        const auto result =
            run_framewire({"run", "--backend", "cpu", "-i", source, "-o", in + "/" + name, "--frames", "1"});
        ASSERT_EQ(result.code, 0) << result.err;
    }

    Result people_in_folder(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"--people", model, "--threshold", "45", "--group", "overlap", "-i", in});
        return hog(std::move(arguments));
    }

    const std::string in = folder / "in";
};

// Each image gives the same results as when it is processed alone, with its name and its index in the folder; image
// sizes change and recur.
TEST_F(HogPeopleInFolder, ResultsEqualThoseOfSeparateRuns) {
    const std::vector<std::string> names{"a.png", "b 50%d.png", "c.jpg", "d.png"};
    draw(names[0], scene);
    draw("b.png", with_figure("200x300", 96, 104, 1));
    std::filesystem::rename(in + "/b.png", in + "/" + names[1]);
    draw(names[2], with_figure("160x160", 32, 16, 1));
    draw(names[3], with_figure("320x240", 160, 80, 1));
    std::ofstream(in + "/notes.txt") << "no image";
    const auto result = people_in_folder({"-o", folder / "people.jsonl", "--annotate", folder / "new/seen/", "--json",
                                          "--stats", folder / "stats.json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto lines = lines_of(contents(folder / "people.jsonl"));
    ASSERT_EQ(lines.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto alone = lines_of(people({"-i", in + "/" + names[i]}).out).at(0);
        ASSERT_EQ(alone["objects"].size(), 1u) << names[i];
        alone["frame"] = i;
        alone["time"] = lines[i]["time"];
        alone["source"] = names[i];
        EXPECT_EQ(lines[i], alone);
        EXPECT_NEAR(lines[i]["time"].get<double>(), static_cast<double>(i) / 30, 1e-6);
        const auto seen = names[i].substr(0, names[i].size() - 4) + ".png";
        const auto one = run_framewire(
            {"run", "-y", "--backend", "cpu", "-i", folder / ("new/seen/" + seen), "-o", folder / "seen.bgr"});
        ASSERT_EQ(one.code, 0) << one.err;
        ASSERT_EQ(people({"-y", "-i", in + "/" + names[i], "--annotate", folder / "alone.bgr"}).code, 0);
        EXPECT_EQ(contents(folder / "seen.bgr"), contents(folder / "alone.bgr")) << names[i];
    }
    const auto summary = Json::parse(result.out);
    EXPECT_EQ(summary["source"], in);
    EXPECT_EQ(summary["frames"], 4);
    EXPECT_EQ(summary["people"], 4);
    const auto figures = Json::parse(contents(folder / "stats.json"));
    EXPECT_EQ(figures["raw_bytes"], (2 * 320 * 240 + 200 * 300 + 160 * 160) * 3);
    EXPECT_EQ(figures["filters"][0]["found"], 4);
    EXPECT_EQ(lines_of(people_in_folder({"--frames", "2"}).out).size(), 2u);
    EXPECT_TRUE(lines_of(people_in_folder({"-f", "adjust=brightness=-255"}).out).at(3)["objects"].empty());
}

TEST_F(HogPeopleInFolder, FindsNobodyInAnImageSmallerThanAWindow) {
    draw("a.png", scene);
    draw("b.png", "lavfi:color=gray:size=60x100:rate=5");
    draw("c.png", scene);
    const auto result = people_in_folder({"--annotate", folder / "seen/"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto lines = lines_of(result.out);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[1], Json::parse(R"({"frame":1,"source":"b.png","time":0.033333,"width":60,"height":100,)"
                                    R"("objects":[]})"));
    for (const auto image : {0u, 2u}) EXPECT_EQ(lines[image]["objects"].size(), 1u) << image;
    for (const auto* part : {"b.png", "60x100", "64x128", "--min-height"})
        EXPECT_NE(result.err.find(part), std::string::npos) << part << ": " << result.err;
    EXPECT_EQ(frames_in(folder / "seen/b.png"), 1);
    const auto smaller = people_in_folder({"--min-height", "80"});
    EXPECT_EQ(smaller.err.find("b.png"), std::string::npos) << smaller.err;
}

TEST_F(HogPeopleInFolder, ReportsABrokenImageAndContinues) {
    draw("a.png", scene);
    draw("c.png", scene);
    for (const auto* broken : {"b.png", "b.jpg"}) {
        std::ofstream(in + "/" + broken) << "broken";
        const auto result = people_in_folder({"-o", folder / "people.jsonl", "--annotate", folder / "seen/"});
        EXPECT_EQ(result.code, 69) << result.err;
        EXPECT_NE(result.err.find(broken), std::string::npos) << result.err;
        const auto lines = lines_of(contents(folder / "people.jsonl"));
        ASSERT_EQ(lines.size(), 2u);
        EXPECT_EQ(lines[0]["source"], "a.png");
        EXPECT_EQ(lines[1]["source"], "c.png");
        EXPECT_EQ(lines[1]["frame"], 2);
        for (const auto* seen : {"seen/a.png", "seen/c.png"}) EXPECT_EQ(frames_in(folder / seen), 1) << seen;
        EXPECT_NE(result.err.find("1 of 3 images failed"), std::string::npos) << result.err;
        std::filesystem::remove(in + "/" + broken);
        std::filesystem::remove_all(folder / "seen");
        std::filesystem::remove(folder / "people.jsonl");
    }
}

TEST_F(HogPeopleInFolder, RejectsInvalidOptions) {
    const auto names = folder.names();
    const auto refused = [&](const std::vector<std::string>& arguments, int code, const std::string& says) {
        const auto result = people_in_folder(arguments);
        EXPECT_EQ(result.code, code) << result.err;
        EXPECT_NE(result.err.find(says), std::string::npos) << says << ": " << result.err;
        EXPECT_EQ(folder.names(), names) << says;
    };
    refused({}, 66, "no images");
    draw("a.png", scene);
    const auto before = contents(in + "/a.png");
    refused({"--annotate", folder / "seen.mp4"}, 2, "seen.mp4/");
    refused({"--annotate", in}, 2, "the input folder");
    refused({"--annotate", folder / "in/."}, 2, "the input folder");
    refused({"--annotate", folder / "seen/", "--scale-step", "1.01"}, 2, "1.05 to 2");
    refused({"--annotate", folder / "seen/", "-f", "grey"}, 2, "gray");
    std::filesystem::copy_file(in + "/a.png", in + "/a.PNG");
    refused({"--annotate", folder / "seen/"}, 2, "would both be written to");
    EXPECT_EQ(contents(in + "/a.png"), before);
}

TEST_F(HogPeople, AppliesFiltersFirst) {
    const auto result = people({"-i", scene, "-f", "adjust=brightness=-255"});
    ASSERT_EQ(result.code, 0) << result.err;
    for (const auto& line : lines_of(result.out)) EXPECT_TRUE(line["objects"].empty());
}

// Descriptors with other parameters need another model; the command line specifies the same parameters for both.
TEST_F(HogPeople, AcceptsOtherWindowsAndDescriptors) {
    const std::vector<std::string> kind{"--cell", "16", "--bins", "6", "--signed", "--norm", "none"};
    auto make = kind;
    make.insert(make.end(), {"-i", with_figure("64x128", 0, 0, 1), "--frames", "1", "-o", folder / "other.npy"});
    ASSERT_EQ(hog(make).code, 0);
    auto find = kind;
    find.insert(find.end(), {"-i", with_figure("320x240", 96, 48, 1), "--frames", "1", "--people", folder / "other.npy",
                             "--scale-step", "2", "--threshold", "1e6", "--group", "overlap"});
    const auto result = hog(find);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(lines_of(result.out)[0]["objects"][0]["box"], (std::vector<int>{96, 48, 64, 128}));
    find.insert(find.end(), {"--window", "64x112"});
    EXPECT_EQ(hog(find).code, 2) << "the weights belong to another window size";
}

TEST_F(HogPeople, RejectsInvalidOptions) {
    std::ofstream(folder / "broken.txt") << "1 2 3\n";
    const auto names = folder.names();
    const struct {
        std::vector<std::string> arguments;
        int code;
        std::string says;
    } all[] = {
        {{"--people", model, "-i", scene, "--scale-step", "1.01"}, 2, "1.05 to 2"},
        {{"--people", model, "-i", scene, "--overlap", "1.5"}, 2, "0 to 1"},
        {{"--people", model, "-i", scene, "--threshold", "nan"}, 2, "'nan' is not a number"},
        {{"--people", model, "-i", scene, "--min-height", "63"}, 2, "half the model's"},
        {{"--people", model, "-i", scene, "--max-height", "100"}, 2, "100"},
        {{"--people", model, "-i", scene, "--window", "64"}, 2, "WIDTHxHEIGHT"},
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
