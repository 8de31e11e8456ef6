#include "framewire/jobs/job.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::jobs {
namespace {

// Returns the aspect as "16:15", or "none".
std::string after(const PlaneMap& placement, Rational aspect) {
    const auto found = aspect_after(placement, aspect);
    return found ? std::to_string(found->numerator) + ":" + std::to_string(found->denominator) : "none";
}

PlaneMap scaled(double from_width, double from_height, double width, double height) {
    return {.xx = width / from_width, .yy = height / from_height};
}

TEST(PixelAspect, FollowsScalingAndRotation) {
    EXPECT_EQ(after({}, {16, 15}), "16:15");
    EXPECT_EQ(after({.x0 = -8, .y0 = 4}, {16, 15}), "16:15") << "cut or framed";
    EXPECT_EQ(after({.xx = -1, .x0 = 720}, {16, 15}), "16:15") << "flipped";
    EXPECT_EQ(after(scaled(720, 576, 360, 288), {16, 15}), "16:15");
    EXPECT_EQ(after(scaled(720, 576, 768, 576), {16, 15}), "1:1");
    EXPECT_EQ(after(scaled(1440, 1080, 1280, 720), {4, 3}), "1:1");
    EXPECT_EQ(after(scaled(720, 480, 853, 480), {32, 27}), "1:1") << "but for a third of a pixel";
    EXPECT_EQ(after(scaled(720, 576, 720, 288), {16, 15}), "8:15");
    EXPECT_EQ(after(scaled(720, 576, 211, 169), {16, 15}), "16:15");
    EXPECT_EQ(after({.xx = 0, .xy = -1, .yx = 1, .yy = 0}, {16, 15}), "15:16") << "turned";
    EXPECT_EQ(after({.xx = 0, .xy = -2, .yx = 1, .yy = 0}, {16, 15}), "15:32") << "turned and widened";
}

TEST(PixelAspect, KeepsSquarePixels) {
    EXPECT_EQ(after(scaled(720, 576, 100, 576), {1, 1}), "1:1");
    EXPECT_EQ(after({.xx = 0.7, .xy = 0.7, .yx = -0.7, .yy = 0.7}, {1, 1}), "1:1");
}

TEST(PixelAspect, IsEmptyForOtherAngles) {
    EXPECT_EQ(after({.xx = 0.7, .xy = 0.7, .yx = -0.7, .yy = 0.7}, {16, 15}), "none");
    EXPECT_EQ(after(scaled(16384, 1, 1, 16384), {16, 15}), "none");
}

}  // namespace
}  // namespace framewire::jobs
