// Tests the camera panel in the window of `show`.
#include "e2e/program.hpp"
#include "e2e/window/display.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::e2e {
namespace {

// Picture of 560x420 in the middle of the screen, with its panel on the right.
const std::string room = "synth:size=560x420:objects=0:noise=0";

class Panel : public testing::Test {
protected:
    // Returns true if the left edge of the picture, which no panel covers, is white.
    static bool is_white(const Screenshot& screen) {
        for (int y = 60; y < 400; y += 20)
            if (screen.at(50, y) != Screenshot::Pixel{255, 255, 255}) return false;
        return true;
    }

    TemporaryFolder folder_;
    Display display_;
};

TEST_F(Panel, SlidersAndSwitchesChangeThePicture) {
    Program program(display_.framewire({"show", "--backend", "cpu", "-f", "flip=horizontal", room}));
    ASSERT_TRUE(display_.has_window("framewire")) << program.err();
    const auto left = [](const Screenshot& screen) { return screen.part_as_bgr(40, 200, 40, 100); };
    const auto flipped = left(display_.settled([](const Screenshot& screen) {
        return screen.at(50, 200) != Screenshot::Pixel{0, 0, 0};
    }));
    display_.press("a");
    // These positions in the panel depend on its font size, which follows the height of the window.
    ASSERT_TRUE(display_.shows(
        [](const Screenshot& screen) { return screen.at(475, 77).red < 120 && screen.at(475, 77).blue > 180; }));
    display_.drag(475, 77, 600, 77);  // drags brightness to the right end
    EXPECT_TRUE(display_.shows(is_white));
    display_.click(372, 153);  // undoes the adjustment
    EXPECT_TRUE(display_.shows([&](const Screenshot& screen) { return left(screen) == flipped; }));
    display_.click(345, 189);  // turns the filter off
    EXPECT_TRUE(display_.shows([&](const Screenshot& screen) { return left(screen) != flipped; }));
    display_.click(345, 189);
    EXPECT_TRUE(display_.shows([&](const Screenshot& screen) { return left(screen) == flipped; }));
    display_.press("q");
    EXPECT_EQ(program.wait().code, 0);
}

// The pointer reaches the panel, and the button is pressed, between two frames of the window.
TEST_F(Panel, APressDoesNotReachTheCameraBelow) {
    const auto of_colour = [](const std::string& colour) { return "lavfi:color=" + colour + ":size=280x420:rate=10"; };
    Program program(display_.framewire({"show", "--backend", "cpu", of_colour("black"), of_colour("blue")}));
    ASSERT_TRUE(display_.has_window("framewire")) << program.err();
    const auto second_is_blue = [](const Screenshot& screen) {
        const auto pixel = screen.at(500, 400);
        return pixel.red < 20 && pixel.green < 20 && pixel.blue > 220;
    };
    ASSERT_TRUE(display_.shows(second_is_blue)) << program.err();
    display_.press("a");
    ASSERT_TRUE(display_.shows(
        [](const Screenshot& screen) { return screen.at(475, 77).red < 120 && screen.at(475, 77).blue > 180; }));
    display_.drag(475, 77, 600, 77);
    EXPECT_TRUE(display_.shows(is_white)) << "the first camera was not brightened";
    EXPECT_TRUE(second_is_blue(display_.screenshot())) << "the second camera is no longer beside the first";
    display_.press("q");
    EXPECT_EQ(program.wait().code, 0);
}

}  // namespace
}  // namespace framewire::e2e
