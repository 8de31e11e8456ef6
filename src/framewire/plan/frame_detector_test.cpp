#include "framewire/plan/frame_detector.hpp"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace framewire {
namespace {

class FrameDetectorTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
};
FRAMEWIRE_ON_EVERY_BACKEND(FrameDetectorTest);

constexpr Shape shape{1, 90, 161, 3};
// Single pixels of noise count as objects; every third frame has more objects than are downloaded at once.
const DetectorParameters parameters{.background = FirstFrame{},
                                    .blur_px = 1,
                                    .threshold = 60,
                                    .morphology = MorphologyOperation::none,
                                    .connectivity = 4,
                                    .min_area = 1};

// Paints a uniform gray image with a rectangle of noise from the second frame on.
void paint(HostView<std::uint8_t> image, int number) {
    for (int y = 0; y < image.shape().height; ++y)
        std::fill_n(image.row(0, y), static_cast<std::size_t>(image.shape().row_bytes()), std::uint8_t{128});
    if (number == 0) return;
    const int side = number % 3 == 0 ? 80 : 12;
    HostImage noise({1, side, side, 3});
    kit::fill(noise.view(), kit::Fill::noise, static_cast<std::uint64_t>(number));
    for (int y = 0; y < side; ++y)
        std::copy_n(noise.view().row(0, y), side * 3, image.row(0, y + 5) + 3 * (number % 40));
}

struct Slot {
    Slot(const FrameDetector& detector, Executor& executor, const Shape& size = shape)
        : frame(size, executor), objects(detector.make_objects()), mask(size.with_channels(1)) {}
    void start(FrameDetector& detector, int number) {
        paint(frame.host(), number);
        frame.upload();
        detector.start(frame, objects);
    }

    Frame frame;
    FrameObjects objects;
    HostImage mask;
};

void require_same(Slot& slot, Slot& want, int number) {
    EXPECT_TRUE(std::ranges::equal(slot.objects.objects(), want.objects.objects())) << number;
    for (auto* one : {&slot, &want}) one->objects.unpack_mask(one->mask.view());
    EXPECT_EQ(kit::first_difference(slot.mask.view(), want.mask.view()), std::nullopt) << number;
}

TEST_P(FrameDetectorTest, FramesInFlightMatchTheReference) {
    constexpr int frames = 23;
    HostImage all(shape.with_frames(frames));
    for (int number = 0; number < frames; ++number) paint(all.view().frames(number, 1), number);
    const auto want = detector_reference(parameters, all.view(), all.view().frames(0, 1));
    ASSERT_GT(want[3].size(), 300u) << "more than are downloaded at once";

    for (const int slots : {1, 2, 5}) {
        FrameDetector detector(parameters, shape, executor(), {}, true);
        std::vector<Slot> places;
        for (int slot = 0; slot < slots; ++slot) places.emplace_back(detector, executor());
        const auto check = [&](int number) {
            auto& place = places[static_cast<std::size_t>(number % slots)];
            place.objects.wait();
            const auto& expected = want[static_cast<std::size_t>(number)];
            EXPECT_TRUE(std::ranges::equal(place.objects.objects(), expected)) << slots << " slots, frame " << number;
            EXPECT_EQ(place.objects.left_out(), 0);
            place.objects.unpack_mask(place.mask.view());
            std::int64_t pixels = 0, area = 0;
            for (int y = 0; y < shape.height; ++y)
                pixels += std::count(place.mask.view().row(0, y), place.mask.view().row(0, y) + shape.width, 255);
            for (const auto& object : expected) area += object.area;
            EXPECT_EQ(pixels, area) << slots << " slots, frame " << number;
        };
        for (int number = 0; number < frames; ++number) {
            if (number >= slots) check(number - slots);
            places[static_cast<std::size_t>(number % slots)].start(detector, number);
        }
        for (int number = frames - slots; number < frames; ++number) check(number);
    }
}

TEST_P(FrameDetectorTest, PlanesMatchTheirImages) {
    constexpr Shape tall{1, 700, 161, 3};  // several chunks of rows
    const YuvInfo info{yuv_420, {YuvMatrix::bt709, false}, siting_left, 1, tall.height, tall.width};
    for (const BackgroundModel& background :
         {BackgroundModel(MixtureParameters{}), BackgroundModel(AdaptiveParameters{}), BackgroundModel(FirstFrame{}),
          BackgroundModel(RunningMean{0.2})}) {
        const DetectorParameters looking{
            .background = background, .blur_px = 3, .threshold = 10, .morphology = MedianWindow{3}, .min_area = 1};
        struct Looked {
            FrameDetector detector;
            Slot slot;
        };
        const auto make = [&] {
            FrameDetector detector(looking, tall, executor(), {}, true);
            Slot slot(detector, executor(), tall);
            return Looked{std::move(detector), std::move(slot)};
        };
        auto planes = make(), images = make();
        ASSERT_EQ(planes.detector.takes_planes(), GetParam() == Backend::cpu);
        if (!planes.detector.takes_planes()) return;
        HostImage scene(tall);
        YuvPicture picture(info);
        std::int64_t objects = 0;
        for (int number = 0; number < 12; ++number) {
            for (int part = 0; part < 7; ++part)
                paint({scene.view().row(0, 100 * part), {1, 100, tall.width, 3}}, number + part % 2);
            ImageToYuv(info, 3, executor().pool()).run(std::as_const(scene).view(), picture.view());
            YuvToImage(info, 3, executor().pool()).run(std::as_const(picture).view(), images.slot.frame.host());
            images.detector.start(images.slot.frame, images.slot.objects);
            planes.detector.start(std::as_const(picture).view(), planes.slot.objects);
            require_same(planes.slot, images.slot, number);
            objects += std::ssize(images.slot.objects.objects());
        }
        EXPECT_GT(objects, 50) << background.index();
    }
}

TEST_P(FrameDetectorTest, RunsWithoutAllocating) {
    // A single thread, because starting threads is not part of processing a frame.
    Executor one_thread(GetParam() == Backend::cpu ? BackendChoice::cpu : BackendChoice::cuda, 1);
    FrameDetector detector(parameters, shape, one_thread, {}, true);
    Slot slot(detector, one_thread);
    const auto run = [&] {
        slot.frame.upload();
        detector.start(slot.frame, slot.objects);
        slot.objects.wait();
    };
    slot.start(detector, 0);
    slot.objects.wait();  // before this returns, the frame may still be uploading
    paint(slot.frame.host(), 3);
    run();
    ASSERT_GT(slot.objects.objects().size(), 300u);
    const auto before = kit::allocations();
    for (int times = 0; times < 5; ++times) run();
    EXPECT_EQ(kit::allocations(), before);
}

constexpr Shape frame{1, 60, 100, 3};
// A box 8 pixels wide and 4 pixels high, completely filled.
constexpr Component box{1, 20, 10, 8, 4, 32, 32 * 23 + 16, 32 * 11 + 16};

// Returns the boxes of `objects` after the filters of a chain have moved them.
std::vector<std::array<int, 4>> boxes(const char* chain, std::vector<Component> objects = {box}) {
    const ChainPlan plan(parse_chain(chain), frame, kit::executor(Backend::cpu));
    std::vector<Component> moved;
    move_objects(objects, plan.placement(), plan.output_shape(), moved);
    std::vector<std::array<int, 4>> result;
    for (const auto& one : moved) result.push_back({one.x, one.y, one.width, one.height});
    return result;
}

using Boxes = std::vector<std::array<int, 4>>;

TEST(MovedObjects, FollowTheirPixels) {
    EXPECT_EQ(boxes("gray"), (Boxes{{20, 10, 8, 4}}));
    EXPECT_EQ(boxes("crop=50:30:15:5"), (Boxes{{5, 5, 8, 4}}));
    EXPECT_EQ(boxes("pad=120:80:10:20"), (Boxes{{30, 30, 8, 4}}));
    EXPECT_EQ(boxes("flip"), (Boxes{{72, 10, 8, 4}}));
    EXPECT_EQ(boxes("flip=vertical"), (Boxes{{20, 46, 8, 4}}));
    EXPECT_EQ(boxes("scale=50%"), (Boxes{{10, 5, 4, 2}}));
    EXPECT_EQ(boxes("scale=200:30"), (Boxes{{40, 5, 16, 2}}));
    EXPECT_EQ(boxes("rotate=90"), (Boxes{{46, 20, 4, 8}}));
    EXPECT_EQ(boxes("rotate=180"), (Boxes{{72, 46, 8, 4}}));
    EXPECT_EQ(boxes("rotate=270"), (Boxes{{10, 72, 4, 8}}));
    EXPECT_EQ(boxes("rotate=180:size=same,flip=both"), (Boxes{{20, 10, 8, 4}}));
    EXPECT_EQ(boxes("rotate=33,rotate=-33,crop=100:60"), (Boxes{{20, 10, 8, 4}}));
    EXPECT_EQ(boxes("scale=50%,gray,flip,pad=iw+7:ih:7:0"), (Boxes{{43, 5, 4, 2}}));
}

TEST(MovedObjects, AreClippedToThePictureOrDropped) {
    EXPECT_EQ(boxes("crop=10:10:24:12"), (Boxes{{0, 0, 4, 2}}));
    EXPECT_EQ(boxes("crop=10:10:28:10"), Boxes());
    EXPECT_EQ(boxes("crop=10:10:50:40"), Boxes());
    EXPECT_EQ(boxes("scale=2:2"), Boxes()) << "less than half a pixel";
}

TEST(MovedObjects, ScaleAreasAndCentres) {
    const ChainPlan plan(parse_chain("scale=200%,flip"), frame, kit::executor(Backend::cpu));
    std::vector<Component> moved;
    move_objects(std::vector{box}, plan.placement(), plan.output_shape(), moved);
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_EQ(moved[0].area, 128);
    // The centre, at 23.5 + 0.5 before, is doubled and mirrored: it is 200 - 48 pixels from the corner.
    EXPECT_EQ(moved[0].sum_x, static_cast<std::int64_t>((200 - 48 - 0.5) * 128));
    EXPECT_EQ(moved[0].sum_y, static_cast<std::int64_t>((24 - 0.5) * 128));
}

// The first object is cropped away, so the second one becomes the first.
TEST(MovedTracks, FollowTheirObjects) {
    const ChainPlan plan(parse_chain("crop=40:40:40:0,scale=50%,rotate=90"), frame, kit::executor(Backend::cpu));
    auto second = box;
    second.id = 2;
    second.x = 60;
    const std::vector objects{box, second};
    std::vector<Component> moved_objects;
    move_objects(objects, plan.placement(), plan.output_shape(), moved_objects);
    ASSERT_EQ(moved_objects.size(), 1u);
    const std::vector<Track> tracks{
        {.id = 4, .x = 20, .y = 10, .width = 8, .height = 4, .object = 0},
        {.id = 7, .x = 60, .y = 10, .width = 8, .height = 4, .velocity_x = 6, .velocity_y = 2, .age_s = 3, .object = 1},
        {.id = 9, .x = 36, .y = 30, .width = 8, .height = 20, .unseen_s = 1}};
    std::vector<Track> moved;
    move_tracks(tracks, objects, moved_objects, plan.placement(), plan.output_shape(), moved);
    // A quarter turn to the right maps x, y of the 20x20 picture to 20 - y, x.
    const std::vector<Track> expected{{.id = 4, .x = 13, .y = 0, .width = 2, .height = 0},
                                      {.id = 7,
                                       .x = 13,
                                       .y = 10,
                                       .width = 2,
                                       .height = 4,
                                       .velocity_x = -1,
                                       .velocity_y = 3,
                                       .age_s = 3,
                                       .object = 0},
                                      {.id = 9, .x = 0, .y = 0, .width = 5, .height = 2, .unseen_s = 1}};
    EXPECT_EQ(moved, expected);
}

}  // namespace
}  // namespace framewire
