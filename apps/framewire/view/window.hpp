#pragma once

#include "framewire/core/view.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace framewire::app {

/// A window that shows pictures of one shape, resizable, keeping their aspect. All calls but wake() are for one thread,
/// the program's first; they throw Error{io} when the display is gone.
class Window {
public:
    /// Throws Error{config} without a display or when the build has no windows.
    Window(const Shape& picture, const std::string& title);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    /// True when this build has windows.
    static bool supported();

    /// Draws the picture.
    void show(HostView<const std::uint8_t> picture);
    void set_title(const std::string& title);

    /// Handles what the user does, waiting for it or for wake() up to `longest`; false once the user wants it closed
    /// (q, Escape, the window's own button).
    bool wait(std::chrono::milliseconds longest);
    /// Ends a wait(); from any thread.
    void wake();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::app
