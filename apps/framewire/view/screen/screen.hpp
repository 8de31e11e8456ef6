#pragma once

#include "view/camera/camera.hpp"
#include "view/screen/layout.hpp"

#include <memory>
#include <stop_token>
#include <string>

namespace framewire::app {

struct ScreenOptions {
    Comparison comparison = Comparison::none;
    bool full_screen = false;
    std::string folder = ".";    ///< where pictures and recordings are saved
    std::string ending = "mkv";  ///< of recordings
    std::string instead{};       ///< what a program without a window is advised
};

/// A window of cameras side by side, led by keys and the mouse, with panels over the pictures.
class Screen {
public:
    /// Whether this build has windows.
    static bool supported();

    /// The stop ends it, and comes when it has ended: the cameras' jobs are to end by it, too.
    Screen(ScreenOptions options, std::stop_source stop);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    /// Opens the window, of so many pixels where the screen has them. Throws as Window does.
    void open(int width, int height, const std::string& title);
    /// To be called before run().
    void add(std::unique_ptr<ShownCamera> camera);
    /// Starts the cameras; returns when the user closes the window, the stop comes, or no camera holds it. Throws what
    /// the window throws, then what a camera failed with.
    void run();
    /// Throws what the window threw, for a job that is to be broken off with it; on any thread, once the stop came.
    void rethrow() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::app
