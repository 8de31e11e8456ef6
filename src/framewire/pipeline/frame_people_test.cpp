#include "framewire/pipeline/frame_people.hpp"

#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <tuple>
#include <vector>

namespace framewire {
namespace {

using FramePeopleTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(FramePeopleTest);

// With a threshold below all scores and no suppression every window is found, whose scores say whether it was this
// frame that was looked at.
TEST_P(FramePeopleTest, FindsInFramesOnTheHostWhatTheDetectorFinds) {
    WindowModel model{.hog = {.cell = 4, .norm = HogNorm::l2hys}, .width_px = 16, .height_px = 24, .weights = {}};
    std::mt19937_64 random(kit::seed());
    std::normal_distribution<float> weight(0, 0.1f);
    model.weights.resize(static_cast<std::size_t>(window_shape(model).count()));
    for (auto& value : model.weights) value = weight(random);
    const PeopleParameters parameters{.threshold = -1e6f, .scale_step = 1.4, .overlap = 1};
    const auto sorted = [](std::span<const Detection> found) {
        std::vector<Detection> all(found.begin(), found.end());
        std::ranges::sort(all, {}, [](const Detection& d) { return std::tuple(d.height, d.y, d.x); });
        return all;
    };
    const Shape shape{1, 60, 50, 3};
    FramePeople people(model, parameters, shape, kit::executor(GetParam()));
    PeopleDetector detector(model, parameters, shape, kit::executor(Backend::cpu));
    for (const int number : {1, 2}) {
        kit::GuardedImage frame(shape, kit::layouts().back());
        kit::fill(frame.view(), kit::Fill::noise, static_cast<std::uint64_t>(number));
        detector.run(frame.view());
        detector.fetch();
        people.process(frame.view());
        const auto want = sorted(detector.detections()), got = sorted(people.people());
        ASSERT_EQ(got.size(), want.size());
        ASSERT_GT(want.size(), 20u);
        for (std::size_t i = 0; i < want.size(); ++i) {
            EXPECT_EQ(std::tuple(got[i].x, got[i].y, got[i].width, got[i].height),
                      std::tuple(want[i].x, want[i].y, want[i].width, want[i].height));
            EXPECT_NEAR(got[i].score, want[i].score, 1e-3);
        }
    }
}

}  // namespace
}  // namespace framewire
