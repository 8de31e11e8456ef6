#include "framewire/plan/frame_hog.hpp"
#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire {
namespace {

class FrameHogTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
};
FRAMEWIRE_ON_EVERY_BACKEND(FrameHogTest);

const Shape shape{1, 120, 161, 3};

// A frame and its descriptors.
struct Slot {
    Slot(const FrameHog& hog, Executor& executor, const Shape& size = shape)
        : frame(size, executor), out(hog.output_shape(), executor) {}
    std::vector<float> values() {
        out.wait();
        return {out.values().begin(), out.values().end()};
    }
    void start(FrameHog& hog, std::uint64_t number) {
        kit::fill(frame.host(), kit::Fill::noise, number);
        frame.upload();
        hog.start(frame, out);
    }

    Frame frame;
    FrameDescriptors out;
};

TEST_P(FrameHogTest, PlanesMatchTheirImages) {
    constexpr Shape tall{1, 2000, 161, 3};  // several chunks of rows
    for (const auto gradient : {HogGradient::sobel, HogGradient::central}) {
        FrameHog hog({.gradient = gradient}, tall, executor()), by_planes({.gradient = gradient}, tall, executor());
        ASSERT_EQ(hog.takes_planes(), GetParam() == Backend::cpu);
        if (!hog.takes_planes()) return;
        Slot planes(by_planes, executor(), tall), images(hog, executor(), tall);
        const YuvInfo info{yuv_420, {YuvMatrix::bt601, true}, siting_centre, 1, tall.height, tall.width};
        YuvPicture picture(info);
        for (int plane = 0; plane < info.planes(); ++plane)
            kit::fill(
                HostView<std::uint8_t>(picture.view().planes[static_cast<std::size_t>(plane)].data,
                                       {1, info.plane_rows(plane), static_cast<int>(info.plane_row_bytes(plane)), 1},
                                       picture.view().planes[static_cast<std::size_t>(plane)].row_stride_bytes, 0),
                kit::Fill::noise, static_cast<std::uint64_t>(plane));
        YuvToImage(info, 3, executor().pool()).run(std::as_const(picture).view(), images.frame.host());
        hog.start(images.frame, images.out);
        const auto want = images.values();
        for (int round = 0; round < 2; ++round) {  // in the second round the levels are known
            by_planes.start(std::as_const(picture).view(), planes.out);
            EXPECT_EQ(planes.values(), want);
        }
    }
}

// Frames in flight, one per slot and waited for in order, must give exactly the same results as single frames.
TEST_P(FrameHogTest, FramesInFlightMatchSingleFrames) {
    constexpr int frames = 41;
    const HogParameters parameters{.norm = HogNorm::l2hys};
    FrameHog hog(parameters, shape, executor());
    std::vector<std::vector<float>> want;
    Slot alone(hog, executor());
    for (int number = 0; number < frames; ++number) {
        alone.start(hog, static_cast<std::uint64_t>(number));
        want.push_back(alone.values());
    }
    ASSERT_NE(want[0], want[1]);

    for (const int slots : {1, 2, 5, 13}) {
        std::vector<Slot> places;
        for (int slot = 0; slot < slots; ++slot) places.emplace_back(hog, executor());
        std::vector<std::vector<float>> got;
        for (int number = 0; number < frames; ++number) {
            auto& place = places[static_cast<std::size_t>(number % slots)];
            if (number >= slots) got.push_back(place.values());
            place.start(hog, static_cast<std::uint64_t>(number));
        }
        for (int number = frames - slots; number < frames; ++number)
            got.push_back(places[static_cast<std::size_t>(number % slots)].values());
        EXPECT_EQ(got, want) << slots << " slots";
    }
}

// The plan is destroyed before the memory that it writes.
TEST_P(FrameHogTest, DestructorWaitsForStartedFrames) {
    auto hog = std::make_unique<FrameHog>(HogParameters{}, shape, executor());
    Slot alone(*hog, executor()), left(*hog, executor());
    alone.start(*hog, 1);
    const auto want = alone.values();
    left.start(*hog, 1);
    hog.reset();
    EXPECT_EQ(left.values(), want);
}

TEST_P(FrameHogTest, RunsWithoutAllocating) {
    // A single thread, because starting threads is not part of processing a frame.
    Executor one_thread(GetParam() == Backend::cpu ? BackendChoice::cpu : BackendChoice::cuda, 1);
    FrameHog hog({.norm = HogNorm::l2}, shape, one_thread);
    std::vector<Slot> places;
    for (int slot = 0; slot < 2; ++slot) places.emplace_back(hog, one_thread);
    const auto run = [&] {
        for (auto& place : places) place.start(hog, 1);
        for (auto& place : places) place.out.wait();
    };
    run();
    const auto before = kit::allocations();
    run();
    EXPECT_EQ(kit::allocations(), before);
}

TEST_P(FrameHogTest, RejectsInvalidArguments) {
    EXPECT_THROW(FrameHog({}, {1, 7, 161, 3}, executor()), Error);
    FrameHog hog({}, shape, executor());
    Slot place(hog, executor());
    Frame other({1, 120, 160, 3}, executor());
    EXPECT_THROW(hog.start(other, place.out), Error);
    FrameDescriptors small({1, 2, 2, 9}, executor());
    EXPECT_THROW(hog.start(place.frame, small), Error);
}

using FramePeopleTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(FramePeopleTest);

// With a threshold below all scores and without suppression every window is found, and its score identifies the frame
// from which it came.
TEST_P(FramePeopleTest, FramesInFlightMatchSingleFrames) {
    WindowModel model{.hog = {.cell = 4, .norm = HogNorm::l2hys}, .width_px = 16, .height_px = 24, .weights = {}};
    std::mt19937_64 random(kit::seed());
    std::normal_distribution<float> weight(0, 0.1f);
    model.weights.resize(static_cast<std::size_t>(window_shape(model).count()));
    for (auto& value : model.weights) value = weight(random);
    const PeopleParameters parameters{
        .threshold = -1e6f, .scale_step = 1.4, .group = PeopleGrouping::overlap, .overlap = 1};
    const auto sorted = [](std::span<const Detection> found) {
        std::vector<Detection> all(found.begin(), found.end());
        std::ranges::sort(all, {}, [](const Detection& d) { return std::tuple(d.height, d.y, d.x); });
        return all;
    };
    const Shape frame_shape{1, 60, 50, 3};
    constexpr int frames = 7, slots = 3;
    auto& executor = kit::executor(GetParam());
    PeopleDetector under_way(model, parameters, frame_shape, executor);
    PeopleDetector one_by_one(model, parameters, frame_shape, kit::executor(Backend::cpu));
    auto found = one_by_one.make_people();
    struct Place {
        Frame frame;
        DetectedPeople people;
    };
    std::vector<Place> places;
    for (int slot = 0; slot < slots; ++slot) places.push_back({Frame(frame_shape, executor), under_way.make_people()});
    const auto check = [&](int number) {
        auto& place = places[static_cast<std::size_t>(number % slots)];
        place.people.wait();
        one_by_one.run(std::as_const(place.frame).host(), found);
        found.download();
        found.wait();
        const auto want = sorted(found.detections()), got = sorted(place.people.detections());
        ASSERT_EQ(got.size(), want.size());
        ASSERT_GT(want.size(), 20u);
        for (std::size_t i = 0; i < want.size(); ++i) {
            EXPECT_EQ(std::tuple(got[i].x, got[i].y, got[i].width, got[i].height),
                      std::tuple(want[i].x, want[i].y, want[i].width, want[i].height));
            EXPECT_NEAR(got[i].score, want[i].score, 1e-3) << "frame " << number;
        }
    };
    for (int number = 0; number < frames; ++number) {
        if (number >= slots) check(number - slots);
        auto& place = places[static_cast<std::size_t>(number % slots)];
        kit::fill(place.frame.host(), kit::Fill::noise, static_cast<std::uint64_t>(number));
        place.frame.upload();
        start(under_way, place.frame, place.people, executor);
    }
    for (int number = frames - slots; number < frames; ++number) check(number);
}

}  // namespace
}  // namespace framewire
