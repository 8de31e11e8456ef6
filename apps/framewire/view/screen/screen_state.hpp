#pragma once

#include "view/panels/panels.hpp"
#include "view/screen/keys.hpp"
#include "view/screen/screen.hpp"
#include "view/window/window.hpp"

#include "framewire/jobs/job.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// Implementation of Screen. Used only on the window's thread, except `failure` and `over`.
struct Screen::State {
    State(ScreenOptions options_, std::stop_source stop_) : options(std::move(options_)), stop(std::move(stop_)) {}

    /// A camera and the history of its statistics.
    struct Shown {
        std::unique_ptr<ShownCamera> camera;
        FigureCourse course;
    };
    // A visible camera and its area.
    struct Cell {
        std::size_t number;
        Area area;
    };

    /// Returns true once the window should close.
    bool is_over() const;
    /// Runs the loop until is_over() or the user closes the window.
    void watch();
    /// Uploads new pictures to the window. Returns false if there are none.
    bool take_pictures();
    /// Adds current statistics to the histories and updates the title.
    void sample();
    /// Returns the visible cameras with their areas.
    std::vector<Cell> cells() const;
    /// Returns the aspect ratio (width / height) of a cell.
    double aspect() const;
    /// Draws pictures and panels.
    void draw();
    void draw_panels(const std::vector<Cell>& seen);
    void draw_over(const Cell& cell);
    void draw_camera_panel();
    /// Shows the playback state, or the statistics of a single stream, in the title.
    void set_title();

    // Input handling.
    bool take_input();
    /// Handles one key. Returns false if the window should close.
    bool take_key(std::string_view key);
    bool act(KeyAction action, std::string_view key);
    /// Leaves the help, the enlarged camera, full screen or the window, whichever applies first. Returns false for the
    /// window.
    bool leave();
    void take_click(const Click& click);
    /// Shows one camera enlarged, or all cameras.
    void show_large(std::optional<std::size_t> number);
    /// Returns the camera under the mouse pointer, or else the selected one.
    std::optional<std::size_t> under_pointer() const;
    /// Controls the playback of all sources.
    void lead(KeyAction action);
    void seek_by(double seconds);
    void set_speed(double speed);
    void save_pictures();
    void switch_recording();
    /// Sends a control request to the camera that the panel shows.
    void request(const service::ControlRequest& wanted);
    /// Shows a message for a short time. An empty message shows the position of the sources instead.
    void say(std::string words);
    template <class Body>
    void each_playing(Body&& body) {
        for (const auto& shown : cameras)
            if (auto* job = shown.camera->playing()) body(*job);
    }
    /// Returns true if the pictures can be paused and sought. This applies either to all cameras or to none.
    bool plays() const { return cameras.front().camera->playing() != nullptr; }
    bool several() const { return cameras.size() > 1; }
    /// Returns the camera that the panel shows.
    ShownCamera& chosen() const { return *cameras[large.value_or(selected)].camera; }

    ScreenOptions options;
    std::stop_source stop;
    std::unique_ptr<Window> window;
    std::vector<Shown> cameras;
    std::string title, drawn_title;
    std::optional<std::size_t> large;
    std::size_t selected = 0;  // camera that the panel shows
    bool shows_figures = false, shows_panel = false, shows_help = false, hidden = false, sharp = false;
    std::string said;  // short message about the last key
    Clock::time_point said_at{};
    bool said_position = false;
    std::optional<Adjustment> requested;  // adjustment that was requested and that the camera has not applied yet
    Clock::time_point requested_at{};
    std::string refusal;             // reason for which the last request was rejected
    jobs::FirstFailure failure;      // first failure of the window
    std::atomic<bool> over = false;  // once set, `failure` no longer changes
};

}  // namespace framewire::app
