// Tests of fw_detector and fw_tracker, whose references are the classes of these names.

#include "framewire/detect/detector.hpp"
#include "framewire/c/c_testing.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/detect/tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire::c {
namespace {

class CDetectorTest : public HandleTest {};
FRAMEWIRE_ON_EVERY_BACKEND(CDetectorTest);

TEST_P(CDetectorTest, DetectorsFindTheObjectsAndMasksOfTheDetector) {
    Scene scene;
    const auto& described = scene.picture().image;
    const auto* const text = "min-area=40:background=mixture";
    const auto detector =
        made<fw_detector>([&](auto** made) { return fw_detector_create(made, text, &described, 25, &settings_); });
    auto mask = Picture(description(FW_GRAY, described.width, described.height), 3);
    EXPECT_REFUSED(fw_detector_mask(detector.get(), &mask.image), "before the first image");
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape = scene.picture().view().shape();
    MotionDetector reference(at_rate(parse_detector(text), 25), shape, executor);
    HostImage want(shape.with_channels(1));
    int found = 0;
    for (int pass = 0; pass < 2; ++pass) {
        Scene frames;
        while (frames.next()) {
            const fw_box* boxes = nullptr;
            std::size_t count = 0;
            FW_OK_OR_FAIL(fw_detector_process(detector.get(), &frames.picture().image, nullptr, &boxes, &count));
            reference.run(frames.picture().view());
            const auto objects = reference.fetch().of_frame();
            ASSERT_EQ(count, objects.size());
            for (std::size_t i = 0; i < count; ++i) {
                EXPECT_EQ(std::tie(boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height, boxes[i].area),
                          std::tie(objects[i].x, objects[i].y, objects[i].width, objects[i].height, objects[i].area));
                EXPECT_DOUBLE_EQ(boxes[i].centre_x, static_cast<double>(objects[i].sum_x) / objects[i].area);
            }
            found += static_cast<int>(count);
            FW_OK_OR_FAIL(fw_detector_mask(detector.get(), &mask.image));
            reference.fetch_mask(want.view());
            EXPECT_EQ(kit::first_difference(mask.view(), std::as_const(want).view()), std::nullopt);
        }
        FW_OK_OR_FAIL(fw_detector_reset(detector.get()));
        reference.reset();
    }
    EXPECT_GT(found, 20);
}

std::vector<fw_box> boxes_of(fw_detector* detector, const fw_image& image) {
    const fw_box* boxes = nullptr;
    std::size_t count = 0;
    EXPECT_EQ(fw_detector_process(detector, &image, nullptr, &boxes, &count), FW_OK) << fw_last_error();
    return {boxes, boxes + count};
}

std::vector<int> numbers_of(const std::vector<fw_box>& boxes) {
    std::vector<int> numbers;
    for (const auto& box : boxes) numbers.insert(numbers.end(), {box.x, box.y, box.width, box.height, box.area});
    return numbers;
}

// A region and a picture may be set in any order; each keeps the other, and both stay after a reset.
TEST_P(CDetectorTest, DetectorsSearchARegionBesideAPicture) {
    Scene scene;
    ASSERT_TRUE(scene.next());
    const auto described = scene.picture().image;
    Picture room = scene.picture(), region(description(FW_GRAY, described.width, described.height), 5);
    ASSERT_EQ(fw_image_layout(&room.image, room.memory.data(), nullptr), FW_OK);
    for (int y = 0; y < described.height; ++y)
        std::fill_n(region.view().row(0, y), described.width / 2, std::uint8_t{255});
    const auto* const text = "method=report:min-area=40";
    auto& executor = kit::executor(Backend::cpu);
    auto parameters = at_rate(parse_detector(text), 25);
    parameters.background = BackgroundImage{};
    const Shape shape = room.view().shape();
    for (const bool region_first : {false, true}) {
        const auto detector =
            made<fw_detector>([&](auto** made) { return fw_detector_create(made, text, &described, 25, &settings_); });
        if (region_first) {
            FW_OK_OR_FAIL(fw_detector_set_region(detector.get(), &region.image));
        }
        FW_OK_OR_FAIL(fw_detector_set_background(detector.get(), &room.image));
        if (!region_first) {
            FW_OK_OR_FAIL(fw_detector_set_region(detector.get(), &region.image));
        }
        for (const bool everywhere : {false, true}) {
            if (everywhere) {
                FW_OK_OR_FAIL(fw_detector_set_region(detector.get(), nullptr));
            }
            const MaskRegion searched(region.view(), executor);
            MotionDetector reference(parameters, shape, executor, everywhere ? nullptr : &searched);
            reference.set_background(room.view());
            std::size_t found = 0;
            Scene frames;
            while (frames.next()) {
                reference.run(frames.picture().view());
                std::vector<int> want;
                for (const auto& one : reference.fetch().of_frame())
                    want.insert(want.end(), {one.x, one.y, one.width, one.height, one.area});
                const auto got = numbers_of(boxes_of(detector.get(), frames.picture().image));
                ASSERT_EQ(got, want);
                found += got.size();
                FW_OK_OR_FAIL(fw_detector_reset(detector.get()));
            }
            EXPECT_GT(found, 20u);
        }
    }
}

TEST_P(CDetectorTest, DetectorsRefuseWrongRegionsAndPictures) {
    const auto described = description(FW_BGR, 64, 48);
    Picture image(described), gray(description(FW_GRAY, 64, 48)), small(description(FW_BGR, 32, 48));
    const auto learns =
        made<fw_detector>([&](auto** made) { return fw_detector_create(made, nullptr, &described, 0, &settings_); });
    EXPECT_REFUSED(fw_detector_set_background(nullptr, &image.image), "detector is NULL");
    EXPECT_REFUSED(fw_detector_set_background(learns.get(), &image.image), "make it with method=report");
    const auto detector = made<fw_detector>(
        [&](auto** made) { return fw_detector_create(made, "method=report", &described, 0, &settings_); });
    EXPECT_REFUSED(fw_detector_set_background(detector.get(), nullptr), "picture is NULL");
    EXPECT_REFUSED(fw_detector_set_background(detector.get(), &small.image), "must be 64x48 BGR");
    EXPECT_REFUSED(fw_detector_set_region(nullptr, &gray.image), "detector is NULL");
    EXPECT_REFUSED(fw_detector_set_region(detector.get(), &image.image), "must be 64x48 gray");
    FW_OK_OR_FAIL(fw_detector_set_background(detector.get(), &gray.image));
}

TEST_P(CDetectorTest, DetectorsRefuseWrongArguments) {
    const auto described = description(FW_BGR, 64, 48);
    fw_detector* none = nullptr;
    EXPECT_REFUSED(fw_detector_create(nullptr, "", &described, 0, &settings_), "detector is NULL");
    EXPECT_REFUSED(fw_detector_create(&none, "", nullptr, 0, &settings_), "image is NULL");
    EXPECT_REFUSED(fw_detector_create(&none, "", &described, -1, &settings_), "rate is -1");
    const auto planes = description(FW_I420, 64, 48);
    EXPECT_REFUSED(fw_detector_create(&none, "", &planes, 0, &settings_), "allowed: FW_GRAY and FW_BGR");
    EXPECT_EQ(fw_detector_create(&none, "min-aera=4", &described, 0, &settings_), FW_ERROR_ARGUMENT);
    EXPECT_PRED2(has, fw_last_error(), "min-area");
    EXPECT_EQ(fw_detector_create(&none, "background=street.png", &described, 0, &settings_), FW_ERROR_ARGUMENT);
    EXPECT_PRED2(has, fw_last_error(), "fw_detector_set_background()");
    const auto detector =
        made<fw_detector>([&](auto** made) { return fw_detector_create(made, nullptr, &described, 0, &settings_); });
    Picture image(described), mask(description(FW_GRAY, 64, 48));
    const fw_box* boxes = nullptr;
    std::size_t count = 0;
    EXPECT_REFUSED(fw_detector_process(nullptr, &image.image, nullptr, &boxes, &count), "detector is NULL");
    EXPECT_REFUSED(fw_detector_process(detector.get(), nullptr, nullptr, &boxes, &count), "image is NULL");
    EXPECT_REFUSED(fw_detector_process(detector.get(), &mask.image, nullptr, &boxes, &count), "must be 64x48 BGR");
    EXPECT_REFUSED(fw_detector_process(detector.get(), &image.image, nullptr, nullptr, &count), "boxes is NULL");
    EXPECT_REFUSED(fw_detector_process(detector.get(), &image.image, nullptr, &boxes, nullptr), "count is NULL");
    EXPECT_REFUSED(fw_detector_mask(nullptr, &mask.image), "detector is NULL");
    EXPECT_REFUSED(fw_detector_mask(detector.get(), nullptr), "mask is NULL");
    EXPECT_REFUSED(fw_detector_mask(detector.get(), &image.image), "must be 64x48 gray");
    EXPECT_REFUSED(fw_detector_reset(nullptr), "detector is NULL");
    fw_detector_destroy(nullptr);
}

TEST(CDetector, TrackersReturnTheTracksOfTheTracker) {
    const auto cpu = settings(Backend::cpu);
    Scene scene;
    const auto& described = scene.picture().image;
    const auto detector =
        made<fw_detector>([&](auto** made) { return fw_detector_create(made, "", &described, 25, &cpu); });
    const auto tracker = made<fw_tracker>(
        [&](auto** made) { return fw_tracker_create(made, "confirm=0.1", described.width, described.height); });
    Tracker reference(parse_tracker("confirm=0.1"), described.width, described.height);
    MotionDetector objects(at_rate({}, 25), scene.picture().view().shape(), kit::executor(Backend::cpu));
    std::size_t tracked = 0;
    while (scene.next()) {
        const fw_box* boxes = nullptr;
        const fw_track* tracks = nullptr;
        std::size_t count = 0, track_count = 0;
        FW_OK_OR_FAIL(fw_detector_process(detector.get(), &scene.picture().image, nullptr, &boxes, &count));
        FW_OK_OR_FAIL(fw_tracker_update(tracker.get(), boxes, count, scene.time().seconds, &tracks, &track_count));
        objects.run(scene.picture().view());
        const auto want = reference.update(objects.fetch().of_frame(), scene.time().seconds);
        ASSERT_EQ(track_count, want.size());
        for (std::size_t i = 0; i < track_count; ++i) {
            EXPECT_EQ(tracks[i].id, want[i].id);
            EXPECT_EQ(tracks[i].x, want[i].x);
            EXPECT_EQ(tracks[i].velocity_y, want[i].velocity_y);
            EXPECT_EQ(tracks[i].box, want[i].object);
        }
        tracked += track_count;
    }
    EXPECT_GT(tracked, 5u);
}

TEST(CDetector, TrackersRefuseWrongArguments) {
    fw_tracker* none = nullptr;
    EXPECT_REFUSED(fw_tracker_create(nullptr, "", 8, 8), "tracker is NULL");
    EXPECT_REFUSED(fw_tracker_create(&none, "", 0, 8), "width is 0");
    EXPECT_REFUSED(fw_tracker_create(&none, "", 8, 99999), "height is 99999");
    EXPECT_EQ(fw_tracker_create(&none, "keep=-1", 8, 8), FW_ERROR_ARGUMENT);
    const auto tracker = made<fw_tracker>([&](auto** made) { return fw_tracker_create(made, nullptr, 64, 48); });
    const fw_track* tracks = nullptr;
    std::size_t count = 0;
    fw_box box{1, 1, 4, 4, 16, 0, 3, 3};
    FW_OK_OR_FAIL(fw_tracker_update(tracker.get(), nullptr, 0, 0, &tracks, &count));
    EXPECT_REFUSED(fw_tracker_update(nullptr, &box, 1, 0, &tracks, &count), "tracker is NULL");
    EXPECT_REFUSED(fw_tracker_update(tracker.get(), nullptr, 1, 0, &tracks, &count), "boxes is NULL");
    EXPECT_REFUSED(fw_tracker_update(tracker.get(), &box, SIZE_MAX, 0, &tracks, &count), "count is");
    EXPECT_REFUSED(fw_tracker_update(tracker.get(), &box, 1, NAN, &tracks, &count), "seconds is");
    EXPECT_REFUSED(fw_tracker_update(tracker.get(), &box, 1, 0, nullptr, &count), "tracks is NULL");
    EXPECT_REFUSED(fw_tracker_update(tracker.get(), &box, 1, 0, &tracks, nullptr), "track_count is NULL");
    box.area = 0;
    EXPECT_REFUSED(fw_tracker_update(tracker.get(), &box, 1, 0, &tracks, &count), "boxes->area is 0");
    box.area = 16, box.width = INT32_MIN;
    EXPECT_REFUSED(fw_tracker_update(tracker.get(), &box, 1, 0, &tracks, &count), "boxes->width is");
    box.width = 4, box.centre_x = INFINITY;
    EXPECT_REFUSED(fw_tracker_update(tracker.get(), &box, 1, 0, &tracks, &count), "boxes->centre_x is");
    fw_tracker_destroy(nullptr);
}

}  // namespace
}  // namespace framewire::c
