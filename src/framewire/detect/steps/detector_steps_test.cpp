#include "framewire/detect/steps/detector_steps.hpp"

#include "framewire/core/error.hpp"
#include "framewire/detect/background/mixture/mixture.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {
namespace detector_steps_test {

constexpr Shape shape{1, 60, 90, 3};

// An even room with a bright square that moves, and a speck.
HostImage frame_of(int number) {
    HostImage image(shape);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const int left = 10 + 8 * number;
            const bool square = number > 0 && x >= left && x < left + 20 && y >= 20 && y < 40;
            const bool speck = number > 0 && x == 80 && y == 50;
            for (int channel = 0; channel < 3; ++channel)
                image.view().row(0, y)[3 * x + channel] =
                    static_cast<std::uint8_t>(square || speck ? 220 : 60 + channel);
        }
    return image;
}

const DetectorStep& step(const DetectorSteps& steps, std::string_view name) {
    for (const auto& one : steps.steps())
        if (one.name == name) return one;
    fail(ErrorCode::internal, "no step {}", name);
}

TEST(DetectorSteps, ShowTheStepsOfTheReportsChain) {
    auto& executor = kit::executor(Backend::cpu);
    const DetectorParameters parameters{.background = FirstFrame{}, .blur_px = 3};
    EXPECT_EQ(detector_step_names(parameters),
              (std::vector<std::string_view>{"gray", "blur", "background", "difference", "threshold", "morphology",
                                             "labels"}));
    DetectorSteps steps(parameters, shape, executor);
    const auto first = frame_of(0), later = frame_of(2);
    steps.run(first.view());
    steps.run(later.view());

    const auto one = shape.with_channels(1);
    HostImage gray(one), blurred(one), still(one), dirty(one), clean(one);
    HostBitMask mask(one);
    gray_reference(GrayMethod::weighted, later.view(), gray.view());
    blurred_gray_reference(3, later.view(), blurred.view());
    blurred_gray_reference(3, first.view(), still.view());
    difference_reference(20, std::as_const(blurred).view(), std::as_const(still).view(), mask.view());
    unpack_mask(std::as_const(mask).view(), dirty.view());
    morphology_reference(MorphologyOperation::close, {ElementShape::disc, 15}, std::as_const(dirty).view(),
                         clean.view());
    for (const auto& [name, want] : {std::pair<const char*, const HostImage*>{"gray", &gray},
                                     {"blur", &blurred},
                                     {"background", &still},
                                     {"threshold", &dirty},
                                     {"morphology", &clean}})
        EXPECT_EQ(kit::first_difference(step(steps, name).picture.view(), want->view()), std::nullopt) << name;
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            ASSERT_EQ(step(steps, "difference").picture.view().row(0, y)[x],
                      std::abs(blurred.view().row(0, y)[x] - still.view().row(0, y)[x]));
}

TEST(DetectorSteps, LabelsColourObjectsAndGrayOthers) {
    auto& executor = kit::executor(Backend::cpu);
    DetectorParameters parameters{.background = FirstFrame{}, .blur_px = 1, .morphology = MorphologyOperation::none};
    DetectorSteps steps(parameters, shape, executor);
    const auto first = frame_of(0), later = frame_of(2);
    steps.run(first.view());
    steps.run(later.view());
    const auto labels = step(steps, "labels").picture.view();
    const auto colour = [&](int x, int y) {
        const auto* at = labels.row(0, y) + 3 * x;
        return std::vector<int>{at[0], at[1], at[2]};
    };
    EXPECT_EQ(colour(0, 0), (std::vector<int>{0, 0, 0}));
    EXPECT_EQ(colour(80, 50), (std::vector<int>{72, 72, 72})) << "one pixel is below the least area";
    EXPECT_EQ(colour(30, 30), colour(45, 21));
    EXPECT_NE(colour(30, 30), colour(0, 0));
    EXPECT_NE(colour(30, 30), colour(80, 50));
    for (const auto name : detector_step_names(parameters)) EXPECT_NE(name, "morphology");
}

TEST(DetectorSteps, ShowBackgroundAndMasksOfAMixture) {
    auto& executor = kit::executor(Backend::cpu);
    EXPECT_EQ(detector_step_names({}),
              (std::vector<std::string_view>{"background", "threshold", "morphology", "labels"}));
    DetectorSteps steps({}, shape, executor);
    MixtureBackground mixture({}, shape, executor);
    HostBitMask mask(shape);
    HostImage background(shape), moving(shape.with_channels(1)), median(shape.with_channels(1));
    for (int number = 0; number < 4; ++number) {
        const auto frame = frame_of(number);
        steps.run(frame.view());
        mixture.run(frame.view(), mask.view());
    }
    mixture.draw_background(background.view());
    unpack_mask(std::as_const(mask).view(), moving.view());
    mask_median_reference(9, moving.view(), median.view());
    EXPECT_EQ(kit::first_difference(step(steps, "background").picture.view(), background.view()), std::nullopt);
    EXPECT_EQ(kit::first_difference(step(steps, "threshold").picture.view(), moving.view()), std::nullopt);
    EXPECT_EQ(kit::first_difference(step(steps, "morphology").picture.view(), median.view()), std::nullopt);
}

}  // namespace detector_steps_test
}  // namespace framewire
