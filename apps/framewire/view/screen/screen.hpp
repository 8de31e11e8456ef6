#pragma once

#include "view/camera/camera.hpp"
#include "view/screen/layout.hpp"

#include <memory>
#include <stop_token>
#include <string>

namespace framewire::app {

/// Options of the camera window.
struct ScreenOptions {
    Comparison comparison = Comparison::none;
    bool full_screen = false;
    std::string folder = ".";    ///< folder in which pictures and recordings are saved
    std::string ending = "mkv";  ///< file extension of recordings
    std::string instead{};       ///< alternative that the error message suggests if there is no display
};

/// A window that shows cameras side by side, with panels over the pictures, controlled by keys and mouse.
class Screen {
public:
    /// Returns true if this build supports windows.
    static bool supported();

    /// `stop` is the stop source that the cameras' jobs observe as well: a stop request closes the window, and closing
    /// the window requests a stop.
    Screen(ScreenOptions options, std::stop_source stop);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    /// Opens the window at this size, reduced if the screen is smaller. Throws as Window does.
    void open(int width, int height, const std::string& title);
    /// Adds a camera. Call it before run().
    void add(std::unique_ptr<ShownCamera> camera);
    /// Starts the cameras. Returns when the user closes the window, a stop is requested, or no camera keeps the window
    /// open. Throws the error of the window or else that of a camera.
    void run();
    /// Throws the error of the window, so that a job can abort with it. Callable from any thread once a stop was
    /// requested.
    void rethrow() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::app
