#include "framewire/detect/detector.hpp"

#include "framewire/detect/opencv_detector_ref.hpp"
#include "framewire/jobs/detect.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/media_testing.hpp"
#include "kit/images.hpp"
#include "kit/needs.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace framewire {
namespace {

using Box = std::array<int, 5>;  // x, y, width, height, area

// Returns the boxes in the records that `detect --method report` writes.
std::vector<std::vector<Box>> boxes_by_job(const std::string& source, const DetectorParameters& parameters) {
    const testing::TemporaryFolder folder;
    const auto records = folder / "boxes.jsonl";
    jobs::DetectJob({.job = {.backend = BackendChoice::cpu},
                     .input = {.source = source},
                     .detector = {.parameters = parameters},
                     .output = records})
        .run();
    std::vector<std::vector<Box>> frames;
    std::ifstream lines(records);
    for (std::string line; std::getline(lines, line);) {
        auto& boxes = frames.emplace_back();
        const auto record = nlohmann::json::parse(line);
        for (const auto& object : record.at("objects")) {
            const auto box = object.at("box").get<std::array<int, 4>>();
            boxes.push_back({box[0], box[1], box[2], box[3], object.at("area").get<int>()});
        }
        std::sort(boxes.begin(), boxes.end());
    }
    return frames;
}

// Returns the boxes that OpenCV finds with cvtColor, GaussianBlur, absdiff, threshold, morphologyEx and
// connectedComponentsWithStats.
std::vector<std::vector<Box>> boxes_by_opencv(const std::string& text, const DetectorParameters& parameters) {
    const auto source = open_source(text);
    OpencvDetector opencv(parameters);
    HostImage frame(source->info().shape);
    FrameTime time;
    std::vector<std::vector<Box>> frames;
    while (source->read(frame.view(), time)) {
        if (frames.empty()) opencv.set_background(frame.view());
        opencv.run(frame.view());
        auto& boxes = frames.emplace_back();
        for (const auto& component : opencv.boxes())
            if (component.area >= parameters.min_area)
                boxes.push_back({component.x, component.y, component.width, component.height, component.area});
        std::sort(boxes.begin(), boxes.end());
    }
    return frames;
}

void expect_the_same_boxes(const std::string& source, const DetectorParameters& parameters, std::size_t least_boxes) {
    SCOPED_TRACE(source + ", blur " + std::to_string(parameters.blur_px));
    const auto ours = boxes_by_job(source, parameters), theirs = boxes_by_opencv(source, parameters);
    ASSERT_EQ(ours.size(), theirs.size());
    std::size_t boxes = 0;
    for (std::size_t frame = 0; frame < ours.size(); ++frame) {
        ASSERT_EQ(ours[frame], theirs[frame]) << "frame " << frame;
        boxes += theirs[frame].size();
    }
    EXPECT_GE(boxes, least_boxes);
}

TEST(DetectorAndOpenCv, ReportMethodFindsTheSameBoxesInASyntheticClip) {
    for (const int blur : {1, 3, 5, 7, 9, 15, 31})
        for (const auto shape : {ElementShape::disc, ElementShape::ellipse})
            expect_the_same_boxes("synth:size=322x242:fps=10:noise=9:objects=6:seed=7:frames=20",
                                  {.background = FirstFrame{}, .blur_px = blur, .shape = shape}, 10);
}

TEST(DetectorAndOpenCv, ReportMethodFindsTheSameBoxesInARealClip) {
    // The clip is too large to be part of the tests; scripts/deps.sh installs it.
    const std::string clip = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";
    FRAMEWIRE_NEEDS(std::filesystem::exists(clip), "there is no " + clip + " (Debian: opencv-doc)");
    expect_the_same_boxes(clip, {.background = FirstFrame{}}, 1000);
}

}  // namespace
}  // namespace framewire
