#pragma once

#include "e2e/program.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace framewire::e2e {

/// Screenshot: rows of R, G, B.
struct Screenshot {
    static constexpr int width = 640, height = 480;
    std::string bytes;

    struct Pixel {
        int red = 0, green = 0, blue = 0;
        friend bool operator==(const Pixel&, const Pixel&) = default;
    };
    Pixel at(int x, int y) const;
    /// Returns a rectangle of the screenshot as B, G, R.
    std::string part_as_bgr(int x, int y, int part_width, int part_height) const;
    /// Returns the number of pixels that are not black.
    int drawn_pixels() const;
    /// Returns the number of pixels in the red background of warning texts.
    int red_pixels() const;
};

/// Returns the command that starts an X server without a physical screen, of this size and depth: "640x480x24". The
/// server prints its display number when it is ready. Each call gives another number: servers that choose their own may
/// choose the same if they start at once.
std::vector<std::string> display_server(const std::string& screen);

/// Display without a physical screen, of Screenshot's size, with a simulated mouse and keyboard.
class Display {
public:
    Display();

    /// Returns the command that starts framewire on this display.
    std::vector<std::string> framewire(std::vector<std::string> arguments) const;
    /// Waits for a window whose title contains this text.
    bool has_window(const std::string& title) const;
    /// Presses a key with the mouse at this position: without a window manager no window has the focus, so keys go to
    /// the window under the mouse. Fails the test on an error.
    void press(const std::string& key, int x = 320, int y = 240) const;
    void click(int x, int y) const;
    /// Presses the left button, moves the mouse and releases the button, all faster than a window draws.
    void drag(int from_x, int from_y, int to_x, int to_y) const;
    Screenshot screenshot() const;
    /// Returns the screen once `wanted` holds and the screen equals the previous one, which means that the program has
    /// finished drawing.
    Screenshot settled(const std::function<bool(const Screenshot&)>& wanted) const;
    /// Polls until `wanted` holds for the screen, for up to three minutes.
    bool shows(const std::function<bool(const Screenshot&)>& wanted) const;

private:
    Result run(std::vector<std::string> arguments) const;

    TemporaryFolder folder_;
    Program server_{display_server("640x480x24")};
    std::string variable_;
};

}  // namespace framewire::e2e
