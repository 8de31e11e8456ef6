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

/// Rectangle in the window, in pixels from its upper left corner.
struct Area {
    float x = 0, y = 0, width = 0, height = 0;

    /// True if the point is inside.
    bool has(float at_x, float at_y) const { return at_x >= x && at_x < x + width && at_y >= y && at_y < y + height; }
};

/// Position of a picture in the window: the picture fills `area` as far as its aspect ratio allows, and only its
/// columns from `from` to `to` (0 is the left edge, 1 the right edge) are visible.
struct Place {
    std::size_t picture = 0;
    Area area{};
    double from = 0, to = 1;
};

/// Mouse position or click outside all panels, in pixels.
struct Click {
    float x = 0, y = 0;
};

/// Resizable window that shows pictures of different shapes with their aspect ratios, and panels over them. Call all
/// members from one thread, except wake(); the work is done on SDL's own thread. Members throw Error{io} if the
/// display is lost.
class Window {
public:
    /// Throws Error{config} if there is no display; the message suggests `instead`. A size that does not fit the
    /// screen is reduced with its aspect ratio.
    Window(int width, int height, const std::string& title, std::string_view instead);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    /// Size of the drawing area in pixels.
    int width() const;
    int height() const;

    /// Uploads a picture of any shape, visible from the next draw().
    void take(HostView<const std::uint8_t> picture, std::size_t number);
    /// Shape of the picture that take() received last for that number.
    std::optional<Shape> shape_of(std::size_t number) const;
    /// Chooses nearest-neighbour scaling for enlarged pictures instead of smoothing.
    void set_sharp(bool sharp);

    /// Draws the available pictures, later ones over earlier ones, and over them what `panels` draws with ImGui calls.
    void draw(const std::vector<Place>& places, const std::function<void()>& panels);
    /// Sets the window's title; unprintable characters and credentials are removed.
    void set_title(const std::string& title);
    /// Switches between full screen and a normal window.
    void set_full_screen(bool full);
    bool full_screen() const;

    /// Handles user input; waits up to `longest` for input or wake(). Returns false once the user has closed the
    /// window with its close button.
    bool wait(std::chrono::milliseconds longest);
    /// Keys pressed in wait() since the last call: the character they produce ("q", "?", " "), or the name of a key
    /// without one ("Left", "Escape", "Home").
    std::vector<std::string> take_keys();
    /// The last click since the last call; draw() decides whether a press was a click outside the panels.
    std::optional<Click> take_click();
    /// Returns true once after input that may change what panels show: mouse motion, a new window size. Also true
    /// while mouse events remain for further draws.
    bool take_stirred();
    /// Mouse position, if the mouse is over the window.
    std::optional<Click> pointer() const;
    /// Ends a wait(). Callable from any thread.
    void wake();

private:
    struct State;
    WindowThread thread_;  // first member: destroys state_ on the thread
    std::unique_ptr<State> state_;
};

}  // namespace framewire::app
