#pragma once

#include "framewire/core/view.hpp"
#include "view/window/window_thread.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// A part of the window, in pixels from its upper left corner.
struct Area {
    float x = 0, y = 0, width = 0, height = 0;

    bool has(float at_x, float at_y) const { return at_x >= x && at_x < x + width && at_y >= y && at_y < y + height; }
};

/// Where a picture of the window goes: an area, which it fills as far as its aspect lets it, and which part of it is
/// seen there, from its left edge 0 to its right edge 1.
struct Place {
    std::size_t picture = 0;
    Area area{};
    double from = 0, to = 1;
};

/// A click beside all panels, in pixels.
struct Click {
    float x = 0, y = 0;
};

/// A window that shows pictures, each of a shape of its own, resizable, keeping their aspect, with panels over them.
/// All calls but wake() are for one thread, and SDL's own thread does the work; they throw Error{io} when the display
/// is gone.
class Window {
public:
    /// Throws Error{config} without a display; it advises `instead` then. A size that does not fit the screen is
    /// smaller, with its aspect kept.
    Window(int width, int height, const std::string& title, std::string_view instead);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    int width() const;
    int height() const;

    /// Takes a picture of any shape, seen from the next draw() on.
    void take(HostView<const std::uint8_t> picture, std::size_t number);
    /// The shape of what take() took last.
    std::optional<Shape> shape_of(std::size_t number) const;
    /// Whether pixels of pictures that are enlarged stay squares; else they are smoothed.
    void set_sharp(bool sharp);

    /// Draws the pictures that there are, later ones over earlier ones, and over them what `panels` makes with Dear
    /// ImGui's calls.
    void draw(const std::vector<Place>& places, const std::function<void()>& panels);
    void set_title(const std::string& title);
    void set_full_screen(bool full);
    bool full_screen() const;

    /// Handles what the user does, waiting for it or for wake() up to `longest`; false once the user wants it closed by
    /// the window's own button.
    bool wait(std::chrono::milliseconds longest);
    /// Keys pressed in wait() since the last call: the character that they give ("q", "?", " "), or the name of one
    /// that gives none ("Left", "Escape", "Home").
    std::vector<std::string> take_keys();
    /// The last click since the last call; draw() decides whether a press was one.
    std::optional<Click> take_click();
    /// True once after the user did anything that panels may show: a move of the mouse, another size. Also true while
    /// mouse events are left for further draws.
    bool take_stirred();
    /// Where the mouse is, when it is over the window.
    std::optional<Click> pointer() const;
    /// Ends a wait(); from any thread.
    void wake();

private:
    struct State;
    WindowThread thread_;  // first: it destroys state_
    std::unique_ptr<State> state_;
};

}  // namespace framewire::app
