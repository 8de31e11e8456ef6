#include "e2e/program.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

constexpr int width = 320, height = 180, frames = 90;
const std::string room = "synth:size=320x180:fps=10:objects=4:seed=3:noise=3";

// Runs `detect` on the CPU, so that the expected results do not depend on the machine.
Result detect(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"detect", "--backend", "cpu", "--frames", std::to_string(frames)});
    return run_framewire(std::move(arguments));
}

std::vector<Json> lines_of(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return lines;
}

std::size_t objects_in(const std::vector<Json>& lines) {
    std::size_t count = 0;
    for (const auto& line : lines) count += line["objects"].size();
    return count;
}

TEST(Detect, FindsMovingObjectsInTheSyntheticRoom) {
    const TemporaryFolder folder;
    const auto result = detect({"-i", room + ":truth=" + folder / "truth.jsonl", "-o", folder / "boxes.jsonl"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "");
    const auto boxes = lines_of(contents(folder / "boxes.jsonl")), truth = lines_of(contents(folder / "truth.jsonl"));
    ASSERT_EQ(boxes.size(), static_cast<std::size_t>(frames));
    int there = 0, found = 0;
    for (std::size_t frame = 0; frame < boxes.size(); ++frame) {
        EXPECT_EQ(boxes[frame]["frame"], frame);
        EXPECT_EQ(boxes[frame]["width"], width);
        EXPECT_EQ(boxes[frame]["height"], height);
        for (const auto& figure : truth[frame]["objects"]) {
            if (figure["area"] < 300) continue;
            ++there;
            const double x = figure["centroid"][0], y = figure["centroid"][1];
            found += std::ranges::any_of(boxes[frame]["objects"], [&](const Json& object) {
                const double left = object["box"][0], top = object["box"][1];
                return x >= left && x <= left + double{object["box"][2]} && y >= top &&
                       y <= top + double{object["box"][3]};
            });
        }
    }
    EXPECT_GT(there, 60);
    EXPECT_GE(found, there * 95 / 100) << "of " << there;
}

TEST(Detect, AllFormatsContainTheSameBoxes) {
    const auto lines = lines_of(detect({"-i", room}).out);
    const auto count = objects_in(lines);
    ASSERT_GT(count, 50u);

    const auto coco = Json::parse(detect({"-i", room, "--format", "coco"}).out);
    EXPECT_EQ(coco["images"].size(), static_cast<std::size_t>(frames));
    ASSERT_EQ(coco["annotations"].size(), count);
    const auto& first = coco["annotations"][0];
    const auto& of_lines = lines[first["image_id"].get<std::size_t>()]["objects"][0];
    EXPECT_EQ(first["bbox"], of_lines["box"]);
    EXPECT_EQ(first["area"], of_lines["area"]);

    const auto mot = detect({"-i", room, "--format", "mot"}).out;
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(mot, '\n')), count);
}

TEST(Detect, WritesMasksAndAnnotatedFrames) {
    const TemporaryFolder folder;
    const auto result =
        detect({"-i", room, "-o", folder / "boxes.jsonl", "--mask", folder / "mask.gray", "--annotate",
                folder / "seen.bgr", "--morph", "none", "--min-area", "1", "--stats", folder / "stats.json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto mask = contents(folder / "mask.gray"), seen = contents(folder / "seen.bgr");
    const auto pixels = static_cast<std::size_t>(width * height);
    ASSERT_EQ(mask.size(), pixels * frames);
    ASSERT_EQ(seen.size(), 3 * pixels * frames);
    const auto lines = lines_of(contents(folder / "boxes.jsonl"));
    for (std::size_t frame = 0; frame < lines.size(); ++frame) {
        std::int64_t area = 0;
        for (const auto& object : lines[frame]["objects"]) {
            area += object["area"].get<std::int64_t>();
            const auto corner =
                frame * pixels + object["box"][1].get<std::size_t>() * width + object["box"][0].get<std::size_t>();
            ASSERT_EQ(seen.substr(3 * corner, 3), std::string("\0\0\xff", 3)) << "the box's corner is red";
        }
        const auto white = std::ranges::count(mask.substr(frame * pixels, pixels), '\xff');
        ASSERT_EQ(white, area) << "frame " << frame;
    }
    const auto stats = Json::parse(contents(folder / "stats.json"));
    EXPECT_EQ(stats["frames"], frames);
    EXPECT_EQ(stats["filters"][0]["objects"], objects_in(lines));
}

TEST(Detect, WritesStepImagesAndLabels) {
    const TemporaryFolder folder;
    const auto result =
        detect({"-i", room, "-o", folder / "boxes.jsonl", "--mask", folder / "mask.gray", "--steps", folder / "steps",
                "--labels", folder / "labels.npy", "--annotate", folder / "seen.bgr"});
    ASSERT_EQ(result.code, 0) << result.err;
    for (const auto& [name, there] :
         {std::pair{"background", true}, {"labels", true}, {"threshold", true}, {"gray", false}})
        EXPECT_EQ(std::filesystem::exists(folder / ("steps/" + std::string(name) + ".mkv")), there) << name;
    ASSERT_EQ(run_framewire({"run", "--backend", "cpu", "-i", folder / "steps/morphology.mkv", "-f", "gray=channels=1",
                             "-o", folder / "morphology.gray"})
                  .code,
              0);
    EXPECT_EQ(contents(folder / "morphology.gray"), contents(folder / "mask.gray"))
        << "the last step must equal the mask";
    const auto labels = contents(folder / "labels.npy");
    EXPECT_NE(labels.find("'descr': '<i4'"), std::string::npos);
    EXPECT_NE(labels.find("'shape': (90, 180, 320)"), std::string::npos);
    // In each frame, the number of pixels with an object's label equals the area in the object's record.
    const auto lines = lines_of(contents(folder / "boxes.jsonl"));
    constexpr std::size_t pixels = std::size_t{width} * height;
    ASSERT_GT(labels.size(), frames * pixels * sizeof(std::int32_t));
    const auto header = labels.size() - frames * pixels * sizeof(std::int32_t);
    for (std::size_t frame = 0; frame < lines.size(); ++frame) {
        std::map<std::int32_t, std::int64_t> areas, counted;
        for (const auto& object : lines[frame]["objects"]) areas[object["id"]] = object["area"];
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
            std::int32_t label = 0;
            std::memcpy(&label, labels.data() + header + (frame * pixels + pixel) * sizeof label, sizeof label);
            if (label != 0) ++counted[label];
        }
        ASSERT_EQ(counted, areas) << "frame " << frame;
    }
    // Step images have no boxes on them, because boxes are drawn later.
    EXPECT_EQ(run_framewire({"detect", "-i", room, "-o", folder / "again.jsonl", "--steps", folder / "steps"}).code, 74)
        << "the step images already exist";
}

TEST(Detect, ReportsTheTimePerStep) {
    const TemporaryFolder folder;
    const auto result = detect(
        {"-i", room, "-f", "gray,mean=5", "-o", folder / "boxes.jsonl", "--stats", folder / "stats.json", "--times"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto stats = Json::parse(contents(folder / "stats.json"));
    std::vector<std::string> names;
    double share = 0;
    for (const auto& step : stats["steps"]) {
        names.push_back(step["step"]);
        share += step["share"].get<double>();
        EXPECT_EQ(step["frames"], frames) << step;
        EXPECT_LE(step["min_ms"], step["mean_ms"]);
        EXPECT_LE(step["mean_ms"], step["max_ms"]);
        EXPECT_NE(result.err.find("\n" + names.back() + " "), std::string::npos) << result.err;
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"read", "gray", "mean", "foreground", "morphology", "labelling", "send"}));
    EXPECT_NEAR(share, 1, 1e-9);
    EXPECT_NE(result.err.find("share"), std::string::npos);
    EXPECT_EQ(Json::parse(contents(folder / "stats.json")).count("read_ms"), 1u);
}

TEST(Detect, DetectsOnlyInsideTheRegionOfInterest) {
    const TemporaryFolder folder;
    // The region is the right half, once as a rectangle and once as a mask image.
    const auto by_zone = detect({"-i", room, "--roi", "160,0,160,180"});
    ASSERT_EQ(
        run_framewire({"run", "--backend", "cpu", "-i", "lavfi:color=white:size=160x180:rate=1,pad=320:180:160:0:black",
                       "-o", folder / "half.png", "--frames", "1"})
            .code,
        0);
    const auto by_picture = detect({"-i", room, "--roi-mask", folder / "half.png"});
    EXPECT_EQ(by_zone.code, 0) << by_zone.err;
    EXPECT_EQ(by_picture.out, by_zone.out) << by_picture.err;
    const auto lines = lines_of(by_zone.out);
    EXPECT_GT(objects_in(lines), 0u);
    for (const auto& line : lines)
        for (const auto& object : line["objects"]) EXPECT_GE(object["box"][0], 160);
}

TEST(Detect, AcceptsTheFirstFrameAsBackgroundImage) {
    const TemporaryFolder folder;
    ASSERT_EQ(run_framewire({"run", "--backend", "cpu", "-i", room, "-o", folder / "room.png", "--frames", "1"}).code,
              0);
    const auto first = detect({"-i", room, "--method", "report"}),
               given = detect({"-i", room, "--background", folder / "room.png"});
    EXPECT_EQ(given.code, 0) << given.err;
    EXPECT_EQ(given.out, first.out);
}

TEST(Detect, EveryBackgroundModelFindsObjects) {
    for (const char* background : {"first", "mean:0.05", "mixture", "mixture:history=100:shadows=1", "adaptive",
                                   "adaptive:threshold=20:texture=4"}) {
        const auto result = detect({"-i", room, "--background", background});
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_GT(objects_in(lines_of(result.out)), 20u) << background;
    }
}

TEST(Detect, AppliesFiltersBeforeDetection) {
    const auto plain = detect({"-i", room}), dark = detect({"-i", room, "-f", "adjust=brightness=-255"});
    EXPECT_EQ(dark.code, 0) << dark.err;
    EXPECT_GT(objects_in(lines_of(plain.out)), 0u);
    EXPECT_EQ(objects_in(lines_of(dark.out)), 0u) << "nothing moves in a black picture";
}

TEST(Detect, ViewersDrawServedBoxes) {
    const TemporaryFolder folder;
    Program server(framewire({"serve", "--backend", "cpu", "-i", room, "--frames", "60", "--mode", "lossless", "--rate",
                              "max", "--wait", "2", "--listen", "127.0.0.1:0", "--detect"}));
    ASSERT_TRUE(server.wait_for_err("tcp://127.0.0.1:")) << server.err();
    const auto at = server.err().find("tcp://");
    const auto url = server.err().substr(at, server.err().find_first_of(" \n", at) - at);
    Program plain(framewire({"view", url, "--no-window", "--no-boxes", "-o", folder / "plain.bgr"}));
    Program boxed(framewire({"view", url, "--no-window", "-o", folder / "boxed.bgr"}));
    EXPECT_EQ(server.wait().code, 0);
    EXPECT_EQ(plain.wait().code, 0);
    EXPECT_EQ(boxed.wait().code, 0);
    const auto red_pixels = [&](const std::string& name) {
        const auto bytes = contents(folder / name);
        int count = 0;
        for (std::size_t at_byte = 0; at_byte + 2 < bytes.size(); at_byte += 3)
            count += bytes.compare(at_byte, 3, std::string("\0\0\xff", 3)) == 0;
        return count;
    };
    EXPECT_EQ(red_pixels("plain.bgr"), 0);
    EXPECT_GT(red_pixels("boxed.bgr"), 1000);
}

struct DetectRefused {
    const char* name;
    std::vector<std::string> arguments;
    int code;
    std::string says;
};

class DetectRefusal : public testing::TestWithParam<DetectRefused> {};

TEST_P(DetectRefusal, ReportsTheReasonAndLeavesNoFile) {
    const TemporaryFolder folder;
    auto arguments = GetParam().arguments;
    if (std::ranges::find(arguments, "-o") == arguments.end())
        arguments.insert(arguments.end(), {"-o", folder / "boxes.jsonl"});
    const auto result = detect(arguments);
    EXPECT_EQ(result.code, GetParam().code) << result.err;
    EXPECT_NE(result.err.find(GetParam().says), std::string::npos) << result.err;
    EXPECT_TRUE(folder.names().empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, DetectRefusal,
    testing::Values(
        DetectRefused{"EvenDiameter", {"-i", room, "--diameter", "14"}, 2, "odd"},
        DetectRefused{
            "OptionWithoutEffect", {"-i", room, "--blur", "7"}, 2, "blur has no effect with background adaptive"},
        DetectRefused{
            "ReportMethodWithMixture", {"-i", room, "--method", "report", "--background", "mixture"}, 2, "report"},
        DetectRefused{"KeepWithAMixture",
                      {"-i", room, "--keep", "5", "--background", "mixture"},
                      2,
                      "keep has no effect with background mixture; allowed with adaptive"},
        DetectRefused{"NegativeKeep", {"-i", room, "--keep", "-1"}, 2, "0 to 604800"},
        DetectRefused{"EvenMedian", {"-i", room, "--morph", "median:4"}, 2, "odd"},
        DetectRefused{"UnknownBackground", {"-i", room, "--background", "second"}, 2, "mixture"},
        DetectRefused{"ZeroLearningRate", {"-i", room, "--background", "mean:0"}, 2, "mean"},
        DetectRefused{"MissingBackgroundImage", {"-i", room, "--background", "no/such.png"}, 66, "no/such.png"},
        DetectRefused{"InvalidRegion", {"-i", room, "--roi", "1,2,3"}, 2, "1,2,3"},
        DetectRefused{"RegionOutsideTheFrame", {"-i", room, "--roi", "320,0,5,5"}, 2, "outside"},
        DetectRefused{"TwoRegions", {"-i", room, "--roi", "0,0,5,5", "--roi-mask", "x.png"}, 2, "cannot be combined"},
        DetectRefused{"MinimumAreaAboveMaximum", {"-i", room, "--min-area", "50", "--max-area", "40"}, 2, "50 to 40"},
        DetectRefused{"UnknownFormat", {"-i", room, "--format", "xml"}, 2, "--format"},
        DetectRefused{"TwoOutputsToStandardOutput", {"-i", room, "-o", "-", "--mask", "-"}, 2, "standard output"},
        DetectRefused{"NoSuchFile", {"-i", "/no/such/file.mp4"}, 66, "/no/such/file.mp4"}),
    [](const auto& refused) { return refused.param.name; });

}  // namespace
}  // namespace framewire::e2e
