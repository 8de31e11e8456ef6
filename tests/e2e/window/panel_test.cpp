// The camera panel in the window of `show`.
#include "e2e/program.hpp"
#include "e2e/window/display.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::e2e {
namespace panel_test {

// A picture of 560x420 in the middle of the screen: its panel lies at the right of it.
const std::string room = "synth:size=560x420:objects=0:noise=0";

class Panel : public testing::Test {
protected:
    // The left edge of the picture, which no panel covers.
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
    ASSERT_TRUE(display_.shows([](const Screenshot& screen) {
        return screen.at(50, 200) != Screenshot::Pixel{0, 0, 0};
    }));
    display_.press("a");
    // Where the panel is, its letters having the size that goes with a window so high.
    ASSERT_TRUE(display_.shows(
        [](const Screenshot& screen) { return screen.at(475, 77).red < 120 && screen.at(475, 77).blue > 180; }));
    EXPECT_TRUE(display_.drag(475, 77, 600, 77, is_white)) << "brightness, to the right end";
    display_.click(372, 153);  // as it comes
    const auto flipped = left(display_.settled([](const Screenshot& screen) { return !is_white(screen); }));
    display_.click(345, 189);  // the filter off
    EXPECT_TRUE(display_.shows([&](const Screenshot& screen) { return left(screen) != flipped; }));
    display_.click(345, 189);
    EXPECT_TRUE(display_.shows([&](const Screenshot& screen) { return left(screen) == flipped; }));
    display_.press("q");
    EXPECT_EQ(program.wait().code, 0);
}

}  // namespace panel_test
}  // namespace framewire::e2e
