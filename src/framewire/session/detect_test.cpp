#include "framewire/session/detect.hpp"

#include "framewire/session/job_testing.hpp"

namespace framewire::session {
namespace detect_test {

class Detect : public JobTest {
protected:
    DetectOptions options(const std::string& source) const {
        return {.job = job(),
                .input = {.source = source},
                .detector = {.parameters = {.blur_px = 3, .diameter_px = 3, .min_area = 10}},
                .output = folder_ / "out.jsonl",
                .annotate = folder_ / "boxes.bgr",
                .mask = folder_ / "mask.gray"};
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(Detect);

TEST_P(Detect, WritesRecordsBoxesAndMasks) {
    DetectJob detect(options(camera()));
    const auto& result = detect.run();
    EXPECT_EQ(result.ending, Ending::complete);
    EXPECT_EQ(result.figures.frames, frames);
    EXPECT_GT(result.objects, 0);
    EXPECT_EQ(result.left_out, 0);
    EXPECT_EQ(lines_in(folder_ / "out.jsonl"), frames);
    const auto boxes = raw_frames(folder_ / "boxes.bgr");
    EXPECT_EQ(boxes.size(), std::size_t{frames});
    EXPECT_FALSE(boxes == camera_frames()) << "boxes are drawn";
    const auto mask = read_file(folder_ / "mask.gray");
    EXPECT_EQ(mask.size(), std::size_t{frames} * width * height);
    EXPECT_GT(std::ranges::count(mask, 255), 0);
    ASSERT_EQ(result.description.filters.size(), 1u);
    EXPECT_EQ(result.description.filters.front().filter, "detect");
}

TEST_P(Detect, LooksOnlyWhereItIsToldTo) {
    auto everywhere = options(camera());
    everywhere.annotate = everywhere.mask = "";
    const auto all = DetectJob(everywhere).run().objects;
    auto corner = everywhere;
    corner.output = folder_ / "corner.jsonl";
    corner.detector.region = std::vector<Zone>{{0, 0, 4, 4}};
    EXPECT_LT(DetectJob(corner).run().objects, all);
}

TEST_P(Detect, WhatWasFoundBeforeAFailureIsWritten) {
    DetectJob detect(options(broken_source(5)));
    EXPECT_EQ(error_of([&] { detect.run(); }), ErrorCode::source_lost);
    EXPECT_EQ(detect.result().ending, Ending::broken_off);
    EXPECT_EQ(lines_in(folder_ / "out.jsonl"), 5);
    EXPECT_EQ(raw_frames(folder_ / "boxes.bgr").size(), 5u);
}

TEST_P(Detect, StandardOutputTakesOneOutput) {
    auto two = options(camera());
    two.output = two.mask = "-";
    EXPECT_EQ(error_of([&] { DetectJob detect(two); }), ErrorCode::usage);
}

}  // namespace detect_test
}  // namespace framewire::session
