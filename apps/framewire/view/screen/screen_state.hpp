#pragma once

#include "view/panels/panels.hpp"
#include "view/screen/keys.hpp"
#include "view/screen/screen.hpp"
#include "view/window/window.hpp"

#include "framewire/session/job/failure.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

struct Screen::State {
    State(ScreenOptions options_, std::stop_source stop_) : options(std::move(options_)), stop(std::move(stop_)) {}

    struct Shown {
        std::unique_ptr<ShownCamera> camera;
        FigureCourse course;
    };
    // Visible camera and its area.
    struct Cell {
        std::size_t number;
        Area area;
    };

    bool is_over() const;
    void watch();
    /// Uploads new pictures to the window; returns false if there are none.
    bool take_pictures();
    void sample();
    std::vector<Cell> cells() const;
    double aspect() const;
    void draw();
    void draw_panels(const std::vector<Cell>& seen);
    void draw_over(const Cell& cell);
    void draw_camera_panel();
    void set_title();

    // Input handling.
    bool take_input();
    bool take_key(std::string_view key);
    bool act(KeyAction action, std::string_view key);
    bool leave();
    void take_click(const Click& click);
    void show_large(std::optional<std::size_t> number);
    std::optional<std::size_t> under_pointer() const;
    void lead(KeyAction action);
    void seek_by(double seconds);
    void set_speed(double speed);
    void save_pictures();
    void switch_recording();
    void order(const session::ControlOrder& wanted);
    /// Shows a message for a short time; an empty one shows the position of the sources.
    void say(std::string words);
    template <class Body>
    void each_playing(Body&& body) {
        for (const auto& shown : cameras)
            if (auto* job = shown.camera->playing()) body(*job);
    }
    bool plays() const { return cameras.front().camera->playing() != nullptr; }
    bool several() const { return cameras.size() > 1; }
    ShownCamera& chosen() const { return *cameras[large.value_or(selected)].camera; }

    ScreenOptions options;
    std::stop_source stop;
    std::unique_ptr<Window> window;
    std::vector<Shown> cameras;
    std::string title, drawn_title;
    std::optional<std::size_t> large;
    std::size_t selected = 0;  // camera of the panel
    bool shows_figures = false, shows_panel = false, shows_help = false, hidden = false, sharp = false;
    std::string said;  // short message about the last key
    Clock::time_point said_at{};
    bool said_position = false;
    std::optional<Adjustment> ordered;  // requested, until the camera has applied it
    Clock::time_point ordered_at{};
    std::string refusal;             // of the last request
    session::FirstFailure failure;   // of the window
    std::atomic<bool> over = false;  // once set, `failure` no longer changes
};

}  // namespace framewire::app
