// Handles input of the camera window. Keys are looked up in the table of keys.cpp; unknown keys are ignored.

#include "view/screen/saved_files.hpp"
#include "view/screen/screen_state.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace framewire::app {
namespace {

constexpr double short_seek_s = 5, long_seek_s = 60, speed_step = 1.1;

// Appends to a comma-separated list.
void append(std::string& list, std::string_view text) {
    list += list.empty() ? "" : ", ";
    list += text;
}

}  // namespace

bool Screen::State::take_input() {
    for (const auto& key : window->take_keys())
        if (!take_key(key)) return false;
    if (const auto click = window->take_click()) take_click(*click);
    return true;
}

// Handles a key. Returns false if it closes the window.
bool Screen::State::take_key(std::string_view key) {
    const auto action = action_of(key);
    return !action || act(*action, key);
}

// Performs an action. Returns false if it closes the window. `key` distinguishes the keys of an action that has
// several.
bool Screen::State::act(KeyAction action, std::string_view key) {
    switch (action) {
        case KeyAction::end: return false;
        case KeyAction::leave: return leave();
        case KeyAction::help: shows_help = !shows_help; break;
        case KeyAction::figures:
            shows_figures = hidden || !shows_figures;
            hidden = false;
            break;
        case KeyAction::panel:
            shows_panel = hidden || !shows_panel;
            hidden = false;
            refusal.clear();
            break;
        case KeyAction::hide: hidden = !hidden; break;
        case KeyAction::sharp:
            window->set_sharp(sharp = !sharp);
            say(sharp ? "nearest scaling" : "smooth scaling");
            break;
        case KeyAction::full_screen: window->set_full_screen(!window->full_screen()); break;
        case KeyAction::save: save_pictures(); break;
        case KeyAction::record: switch_recording(); break;
        case KeyAction::one_large: show_large(static_cast<std::size_t>(key.front() - '1')); break;
        case KeyAction::this_large: show_large(large ? std::nullopt : under_pointer()); break;
        case KeyAction::all: show_large({}); break;
        case KeyAction::compare:
            options.comparison = static_cast<Comparison>((static_cast<int>(options.comparison) + 1) % 3);
            break;
        default:
            if (plays()) lead(action);
    }
    return true;
}

// Leaves, in this order, the help, the enlarged camera, full screen, and finally the window.
bool Screen::State::leave() {
    if (std::exchange(shows_help, false)) return true;
    if (std::exchange(large, std::nullopt)) return true;
    if (!window->full_screen()) return false;
    window->set_full_screen(false);
    return true;
}

// A click enlarges a camera or returns to the grid.
void Screen::State::take_click(const Click& click) {
    if (large) return show_large({});
    for (const auto& cell : cells())
        if (cell.area.has(click.x, click.y)) return show_large(cell.number);
}

// The enlarged camera is also the one that the panel shows.
void Screen::State::show_large(std::optional<std::size_t> number) {
    if (!several() || (number && *number >= cameras.size())) return;
    if (number) selected = *number;
    large = number;
}

// Returns the camera under the mouse pointer, or else the selected one.
std::optional<std::size_t> Screen::State::under_pointer() const {
    if (const auto pointer = window->pointer())
        for (const auto& cell : cells())
            if (cell.area.has(pointer->x, pointer->y)) return cell.number;
    return selected;
}

// Controls the playback of all sources.
void Screen::State::lead(KeyAction action) {
    const auto state = cameras.front().camera->playing()->state();
    switch (action) {
        case KeyAction::pause:
            each_playing([&](auto& job) { job.set_paused(!state.paused); });
            return say(state.paused ? "resumed" : "paused");
        case KeyAction::step: each_playing([](auto& job) { job.step(); }); return say({});
        case KeyAction::step_back: each_playing([](auto& job) { job.step_back(); }); return say({});
        case KeyAction::to_start: each_playing([](auto& job) { job.seek(0); }); return say({});
        case KeyAction::back: return seek_by(-short_seek_s);
        case KeyAction::on: return seek_by(short_seek_s);
        case KeyAction::far_back: return seek_by(-long_seek_s);
        case KeyAction::far_on: return seek_by(long_seek_s);
        case KeyAction::slower: return set_speed(state.speed / speed_step);
        case KeyAction::faster: return set_speed(state.speed * speed_step);
        case KeyAction::own_speed: return set_speed(1);
        default: break;
    }
}

// Seeks in all sources that can seek.
void Screen::State::seek_by(double seconds) {
    bool any = false;
    each_playing([&](auto& job) { any |= job.seek_by(seconds); });
    say(any ? "" : "cannot seek in a live source");
}

// The job clamps the speed, so the message shows the job's value.
void Screen::State::set_speed(double speed) {
    each_playing([&](auto& job) { job.set_speed(speed); });
    say(fmt::format("speed {:.2f}", cameras.front().camera->playing()->state().speed));
}

// Saves the visible pictures as PNG files.
void Screen::State::save_pictures() {
    std::string saved;
    try {
        for (const auto& cell : cells()) {
            const auto& camera = *cameras[cell.number].camera;
            camera.seen().look([&](HostView<const std::uint8_t> picture) {
                const auto path = new_file_name(options.folder, camera.name(), "png");
                const auto sink = open_sink(path, picture.shape(), {1, 1});
                sink->write(picture, {});
                sink->finish();
                log_info("saved {}", path);
                append(saved, path);
            });
        }
        say(saved.empty() ? "there is no picture yet" : "saved " + saved);
    } catch (const std::exception& error) {  // keeps the window open, even if the disk is full
        log_error("{}", error.what());
        say(error.what());
    }
}

// Starts recording all visible cameras, or stops all recordings if there are any.
void Screen::State::switch_recording() {
    const bool ends =
        std::ranges::any_of(cameras, [](const auto& shown) { return shown.camera->recording().seconds().has_value(); });
    if (!ends) {
        for (const auto& cell : cells()) {
            auto& camera = *cameras[cell.number].camera;
            camera.recording().start(new_file_name(options.folder, camera.name(), options.ending), camera.rate());
        }
        return say("recording");
    }
    std::string saved;
    for (const auto& shown : cameras) try {
            if (const auto path = shown.camera->recording().stop()) {
                log_info("saved {}", *path);
                append(saved, *path);
            }
        } catch (const std::exception& error) {
            log_error("{}", error.what());
            append(saved, error.what());
        }
    say(saved.empty() ? "nothing was recorded" : "saved " + saved);
}

void Screen::State::say(std::string words) {
    said_position = words.empty();
    said = std::move(words);
    said_at = Clock::now();
}

}  // namespace framewire::app
