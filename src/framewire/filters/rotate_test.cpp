#include "framewire/filters/rotate.hpp"
#include "framewire/filters/geometry_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using RotateTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(RotateTest);

void check_quarters(Backend backend, const char* angle, int quarters, int channels, std::vector<Shape> shapes = {}) {
    kit::check_filter(backend, {.info = rotate_info(),
                                .values = {{"angle", angle}},
                                .channels = channels,
                                .reference =
                                    [=](const FilterImages<MemorySpace::host>& images) {
                                        quarter_turns_reference(quarters, images.in, images.out);
                                    },
                                .shapes = std::move(shapes)});
}

TEST_P(RotateTest, RightAnglesOnlyMovePixels) {
    check_quarters(GetParam(), "90", 1, 3);
    check_quarters(GetParam(), "270", 3, 1);
    for (const auto& [angle, quarters] : {std::pair{"90", 1}, {"180", 2}, {"270", 3}, {"-90", 3}})
        for (const int channels : {3, 1})
            check_quarters(GetParam(), angle, quarters, channels, {{1, 1, 1, channels}, {2, 37, 131, channels}});
}

TEST_P(RotateTest, FullTurnsLeaveTheImageUnchanged) {
    for (const auto* angle : {"0", "360", "-360"})
        kit::check_filter(
            GetParam(),
            {.info = rotate_info(),
             .values = {{"angle", angle}},
             .reference = [](const FilterImages<MemorySpace::host>& images) { copy(images.in, images.out); },
             .shapes = {{2, 33, 47, 3}}});
}

// Compares with the float64 formula, or with the fixed-point one if `formula` is false.
void check(Backend backend, const char* angle, const char* size, int channels, bool formula,
           std::vector<Shape> shapes = {}) {
    const Pixel color = channels == 3 ? pixel_of(255, 165, 10) : gray_pixel(129);
    const RotateParameters parameters{std::stod(angle), std::string(size) == "whole", color};
    kit::check_filter(backend, {.info = rotate_info(),
                                .values = {{"angle", angle}, {"size", size}, {"color", "#0aa5ff"}},
                                .channels = channels,
                                .reference =
                                    [=](const FilterImages<MemorySpace::host>& images) {
                                        const Rotate rotate(parameters, images.in.shape(), kit::executor(Backend::cpu));
                                        if (formula)
                                            rotate_formula(parameters.degrees, color, images.in, images.out);
                                        else
                                            rotate_reference(rotate.map(), color, images.in, images.out);
                                    },
                                .tolerance = formula ? 2 : 0,
                                .shapes = std::move(shapes)});
}

TEST_P(RotateTest, MatchesTheFixedPointFormulaForEveryShape) {
    check(GetParam(), "17", "whole", 3, false);
    check(GetParam(), "-100.5", "same", 1, false);
}

TEST_P(RotateTest, MatchesTheFixedPointFormulaForManyAngles) {
    for (int degrees = -350; degrees <= 360; degrees += 35)
        for (const auto* size : {"whole", "same"}) {
            const int channels = degrees % 2 ? 3 : 1;
            const auto angle = fmt::format("{}.25", degrees);
            check(GetParam(), angle.c_str(), size, channels, false, {{1, 37, 101, channels}, {2, 80, 3, channels}});
        }
    for (const auto* angle : {"90", "-90", "1e-9", "0.001", "45", "359.999"})
        check(GetParam(), angle, "same", 3, false, {{1, 50, 71, 3}, {1, 71, 50, 3}, {1, 1, 9, 3}});
}

// Weights of 8 bits have errors of up to 2^-9 along either axis, for differences of up to 255.
TEST_P(RotateTest, DiffersFromTheFormulaByAtMostTwo) {
    for (const auto* angle : {"3", "45", "123.4", "-60"})
        for (const auto* size : {"whole", "same"}) check(GetParam(), angle, size, 3, true, {{1, 57, 83, 3}});
}

TEST(Rotate, ResultFitsTheWholeImageOrKeepsItsSize) {
    const auto info = rotate_info();
    const auto size = [&](const char* angle, const char* of) {
        const auto shape = info.output_shape(with_defaults(info, {{"angle", angle}, {"size", of}}), {1, 300, 400, 3});
        return fmt::format("{}x{}", shape.width, shape.height);
    };
    EXPECT_EQ(size("90", "whole"), "300x400");
    EXPECT_EQ(size("90", "same"), "400x300");
    EXPECT_EQ(size("180", "whole"), "400x300");
    EXPECT_EQ(size("45", "whole"), "495x495");
    EXPECT_EQ(size("30", "same"), "400x300");
}

TEST(Rotate, RejectsInvalidAnglesAndShapes) {
    auto& executor = kit::executor(Backend::cpu);
    for (const double degrees : {361.0, -1e9, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW(Rotate({.degrees = degrees}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(Rotate({.degrees = 45}, {1, 16384, 16384, 3}, executor), Error) << "the result is too large";
    EXPECT_THROW(Rotate({}, {1, 4, 4, 2}, executor), Error);
    const Rotate rotate({}, {1, 4, 6, 3}, executor);
    HostImage in({1, 4, 6, 3}), out({1, 4, 6, 3});
    EXPECT_THROW(rotate.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()}), Error);
}

}  // namespace
}  // namespace framewire
