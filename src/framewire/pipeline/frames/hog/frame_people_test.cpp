#include "framewire/pipeline/frames/hog/frame_people.hpp"

#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire {
namespace frame_people_test {

using FramePeopleTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(FramePeopleTest);

// With a threshold below all scores and without suppression every window is found, and its score shows which
// frame it came from.
TEST_P(FramePeopleTest, FramesInFlightEqualSingleFrames) {
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
    const Shape shape{1, 60, 50, 3};
    constexpr int frames = 7, slots = 3;
    auto& executor = kit::executor(GetParam());
    PeopleDetector under_way(model, parameters, shape, executor);
    PeopleDetector one_by_one(model, parameters, shape, kit::executor(Backend::cpu));
    auto found = one_by_one.make_people();
    struct Slot {
        Frame frame;
        DetectedPeople people;
    };
    std::vector<Slot> places;
    for (int slot = 0; slot < slots; ++slot) places.push_back({Frame(shape, executor), under_way.make_people()});
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

}  // namespace frame_people_test
}  // namespace framewire
