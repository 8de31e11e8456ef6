#pragma once

#include "e2e/program.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace framewire::e2e {

/// What the screen shows: rows of R, G, B.
struct Screenshot {
    static constexpr int width = 640, height = 480;
    std::string bytes;

    struct Pixel {
        int red = 0, green = 0, blue = 0;
        friend bool operator==(const Pixel&, const Pixel&) = default;
    };
    Pixel at(int x, int y) const;
    /// A part of it as B, G, R.
    std::string part_as_bgr(int x, int y, int part_width, int part_height) const;
    /// How many pixels are not black.
    int drawn_pixels() const;
    /// How many pixels are the red behind alarming words.
    int red_pixels() const;
};

/// Arguments that start an X server without a screen, of such a size and depth: "640x480x24". It says its number when
/// it serves. The number is one that no server of other tests has: left to choose, two that begin at once may take the
/// same.
std::vector<std::string> display_server(const std::string& screen);

/// A display without a screen, of Screenshot's size, and hands on its mouse and keyboard.
class Display {
public:
    Display();

    /// Starts framewire on it.
    std::vector<std::string> framewire(std::vector<std::string> arguments) const;
    /// Waits for a window whose title has this.
    bool has_window(const std::string& title) const;
    /// Keys go to where the mouse is: without a window manager nothing has the focus. None of these may fail.
    void press(const std::string& key, int x = 320, int y = 240) const;
    void click(int x, int y) const;
    /// Presses the left button, moves and releases it, all of it faster than a window draws.
    void drag(int from_x, int from_y, int to_x, int to_y) const;
    Screenshot screenshot() const;
    /// The screen once it is as wanted and equals the one before it: the program has drawn all of it.
    Screenshot settled(const std::function<bool(const Screenshot&)>& wanted) const;
    /// Looks until the screen is as wanted, up to three minutes.
    bool shows(const std::function<bool(const Screenshot&)>& wanted) const;

private:
    Result run(std::vector<std::string> arguments) const;

    TemporaryFolder folder_;
    Program server_{display_server("640x480x24")};
    std::string variable_;
};

}  // namespace framewire::e2e
