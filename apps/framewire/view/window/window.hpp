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

/// A rectangle in the window, in pixels from the window's upper left corner.
struct Area {
    float x = 0, y = 0, width = 0, height = 0;

    /// Returns true if the point is inside.
    bool has(float at_x, float at_y) const { return at_x >= x && at_x < x + width && at_y >= y && at_y < y + height; }
};

/// Position of a picture in the window. The picture fills `area` as far as its aspect ratio allows. Only its columns
/// from `from` to `to` are visible, where 0 is the left edge and 1 the right edge.
struct Place {
    std::size_t picture = 0;
    Area area{};
    double from = 0, to = 1;
};

/// Position of the mouse or of a click outside all panels, in pixels.
struct Click {
    float x = 0, y = 0;
};

/// A resizable window that shows pictures of different shapes with their aspect ratios, and panels over them. All
/// members except wake() must be called from one thread; SDL's own thread does the work. Members throw Error{io} if the
/// display is lost.
class Window {
public:
    /// Opens the window. A size that does not fit the screen is reduced, keeping the aspect ratio. Throws Error{config}
    /// if there is no display; the message suggests `instead`.
    Window(int width, int height, const std::string& title, std::string_view instead);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    /// Return the size of the drawing area in pixels.
    int width() const;
    int height() const;

    /// Uploads a picture of any shape, which is visible from the next draw() on.
    void take(HostView<const std::uint8_t> picture, std::size_t number);
    /// Returns the shape of the picture that take() received last for this number.
    std::optional<Shape> shape_of(std::size_t number) const;
    /// Selects nearest-neighbour scaling for enlarged pictures instead of smoothing.
    void set_sharp(bool sharp);

    /// Draws the available pictures, later ones over earlier ones, and on top of them what `panels` draws with ImGui
    /// calls.
    void draw(const std::vector<Place>& places, const std::function<void()>& panels);
    /// Sets the window's title after removing unprintable characters and credentials.
    void set_title(const std::string& title);
    /// Switches between full screen and a normal window.
    void set_full_screen(bool full);
    bool full_screen() const;

    /// Waits up to `longest` for user input or wake(), and handles the input. Returns false once the user has closed
    /// the window with its close button.
    bool wait(std::chrono::milliseconds longest);
    /// Returns the keys that were pressed in wait() since the last call: the character that a key produces ("q", "?", "
    /// "), or the name of a key without a character ("Left", "Escape", "Home").
    std::vector<std::string> take_keys();
    /// Returns the last click since the previous call. draw() decides whether a press was a click outside the panels.
    std::optional<Click> take_click();
    /// Returns true once after input that may change what panels show: mouse motion or a new window size. Also returns
    /// true while mouse events remain for further draws.
    bool take_stirred();
    /// Returns the position of the mouse if it is over the window.
    std::optional<Click> pointer() const;
    /// Ends a wait(). Callable from any thread.
    void wake();

private:
    struct State;
    WindowThread thread_;  // first member, because state_ is destroyed on this thread
    std::unique_ptr<State> state_;
};

}  // namespace framewire::app
