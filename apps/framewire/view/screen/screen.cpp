// Main loop of the camera window. Jobs run on their own threads and wake the loop when a picture is ready. The loop
// draws only if something changed, at most once per draw period.

#include "view/screen/screen.hpp"

#include "view/camera/local_camera.hpp"
#include "view/screen/screen_state.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace framewire::app {
namespace {

constexpr std::chrono::milliseconds longest_wait{100}, sample_period{500};
constexpr std::chrono::milliseconds draw_period{14};  // about the refresh rate of a screen
constexpr int settling_draws = 2;                     // panels compute their size in one draw and use it in the next
constexpr double words_last_ms = 1500, requests_last_ms = 700;

// Returns the whole window as an area.
Area whole(const Window& window) {
    return {0, 0, static_cast<float>(window.width()), static_cast<float>(window.height())};
}

}  // namespace

bool Screen::supported() { return true; }

Screen::Screen(ScreenOptions options, std::stop_source stop)
    : state_(std::make_unique<State>(std::move(options), std::move(stop))) {}

Screen::~Screen() {
    state_->stop.request_stop();  // requested before the threads are joined
    for (const auto& shown : state_->cameras) shown.camera->join();
}

void Screen::open(int width, int height, const std::string& title) {
    state_->title = title;
    state_->window = std::make_unique<Window>(width, height, title, state_->options.instead);
    if (state_->options.full_screen) state_->window->set_full_screen(true);
}

void Screen::add(std::unique_ptr<ShownCamera> camera) { state_->cameras.push_back({std::move(camera), {}}); }

void Screen::rethrow() const {
    if (state_->over) state_->failure.rethrow();
}

// Errors are rethrown in this order: that of a camera, of the window, of completing the recordings.
void Screen::run() {
    auto& state = *state_;
    state.failure.attempt([&] {
        for (const auto& shown : state.cameras) shown.camera->start([&state] { state.window->wake(); });
        state.watch();
    });
    state.over = true;
    state.stop.request_stop();
    jobs::FirstFailure joined;
    for (const auto& shown : state.cameras) joined.attempt([&] { shown.camera->join(); });
    for (const auto& shown : state.cameras) shown.camera->rethrow();
    state.failure.rethrow();
    joined.rethrow();
}

// Returns true once the window should close.
bool Screen::State::is_over() const {
    return stop.stop_requested() ||
           std::ranges::none_of(cameras, [](const auto& shown) { return shown.camera->holds_window(); });
}

// Runs the loop: input, pictures, statistics, drawing.
void Screen::State::watch() {
    for (const auto& shown : cameras) shown.camera->figures();  // rates are measured from now on
    auto draw_due = Clock::now(), sample_due = draw_due + sample_period;
    int draws = 1;  // number of draws that are still needed
    while (!is_over()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(draw_due - Clock::now());
        // Waits for the time of the next draw if one is needed, otherwise for an event.
        const auto longest = draws > 0 ? std::clamp(left, std::chrono::milliseconds(0), longest_wait) : longest_wait;
        if (!window->wait(longest) || !take_input()) return;
        if (window->take_stirred()) draws = settling_draws;
        if (take_pictures()) draws = std::max(draws, 1);
        if (Clock::now() >= sample_due) {
            sample_due = Clock::now() + sample_period;
            sample();
            draws = settling_draws;
        }
        if (draws == 0 || Clock::now() < draw_due) continue;
        draw_due = Clock::now() + draw_period;
        draw();
        --draws;
    }
}

bool Screen::State::take_pictures() {
    const TakePicture take = [this](HostView<const std::uint8_t> picture, std::size_t number) {
        window->take(picture, number);
    };
    bool any = false;
    for (std::size_t number = 0; number < cameras.size(); ++number) try {
            any |= cameras[number].camera->give(take, ShownCamera::pictures_each * number);
        } catch (const Error& error) {  // the picture exceeds the display's texture size; other cameras continue
            if (error.code() != ErrorCode::config || !several()) throw;
            say(error.what());
        }
    return any;
}

// Adds the current statistics to the histories.
void Screen::State::sample() {
    for (auto& shown : cameras) {
        shown.course.add(shown.camera->figures());
        if (const auto problem = shown.camera->recording().take_problem()) say("recording ended: " + *problem);
    }
    set_title();
}

// Returns the aspect ratio of the grid's cells, which is that of the first available picture.
double Screen::State::aspect() const {
    const double across = options.comparison == Comparison::side_by_side ? 2 : 1;
    for (std::size_t number = 0; number < cameras.size(); ++number)
        if (const auto shape = window->shape_of(ShownCamera::pictures_each * number))
            return across * shape->width / shape->height;
    return across * 16 / 9;
}

// Returns the visible cameras: the enlarged one, or all.
std::vector<Screen::State::Cell> Screen::State::cells() const {
    if (large) return {{*large, whole(*window)}};
    std::vector<Cell> all;
    for (const auto& area : grid_cells(cameras.size(), aspect(), window->width(), window->height()))
        all.push_back({all.size(), area});
    return all;
}

void Screen::State::draw() {
    const auto seen = cells();
    std::vector<Place> places;
    for (const auto& cell : seen)
        add_places(places, ShownCamera::pictures_each * cell.number, cell.area,
                   plays() ? options.comparison : Comparison::none);
    window->draw(places, [&] { draw_panels(seen); });
}

// Draws all overlays.
void Screen::State::draw_panels(const std::vector<Cell>& seen) {
    for (const auto& cell : seen) draw_over(cell);
    if (!said.empty() && milliseconds_since(said_at) < words_last_ms)
        draw_caption(whole(*window), Corner::lower_left, Tone::quiet, said);
    if (shows_panel && !hidden) draw_camera_panel();
    if (shows_help) draw_help(window->width(), window->height(), plays(), several());
}

// Draws the overlays of one camera.
void Screen::State::draw_over(const Cell& cell) {
    const auto& [camera, course] = cameras[cell.number];
    const auto trouble = camera->trouble();
    if (!trouble.empty())
        draw_caption(cell.area, Corner::lower_left, Tone::alarming, trouble);
    else if (!window->shape_of(ShownCamera::pictures_each * cell.number))
        draw_caption(cell.area, Corner::middle, Tone::quiet, "waiting for " + camera->name());
    if (hidden) return;
    if (shows_figures)
        draw_figures(cell.area, cell.number, camera->name(), course);
    else if (several())
        draw_caption(cell.area, Corner::upper_left, Tone::quiet, camera->name());
    if (const auto seconds = camera->recording().seconds())
        draw_caption(cell.area, Corner::lower_right, Tone::recording, "REC " + to_clock_text(*seconds));
    if (shows_panel && several() && !large && cell.number == selected) draw_frame(cell.area);
    if (said_position && trouble.empty() && camera->playing() && milliseconds_since(said_at) < words_last_ms)
        draw_caption(cell.area, Corner::lower_left, Tone::quiet, position_text(*camera->playing()));
}

// Draws the panel. A value that the user has just set is shown instead of the camera's, so that sliders do not jump
// back before the request takes effect.
void Screen::State::draw_camera_panel() {
    auto& camera = chosen();
    std::optional<service::Controls> controls;
    try {
        controls = camera.controls();
    } catch (const Error& error) {  // the server's answer was invalid
        refusal = error.what();
    }
    if (controls && requested && milliseconds_since(requested_at) < requests_last_ms) controls->adjustment = *requested;
    for (const auto& wanted : draw_controls(window->width(), window->height(), camera.name(), controls, refusal))
        request(wanted);
}

// Sends a control request. If it is rejected, the panel shows the reason.
void Screen::State::request(const service::ControlRequest& wanted) {
    if (const auto* adjustment = std::get_if<Adjustment>(&wanted)) {
        requested = *adjustment;
        requested_at = Clock::now();
    }
    try {
        refusal.clear();
        chosen().control(wanted);
    } catch (const Error& error) {
        refusal = error.what();
    }
}

void Screen::State::set_title() {
    auto text = title;
    const auto& first = *cameras.front().camera;
    if (const auto* job = first.playing()) {
        const auto state = job->state();
        if (!state.lost.empty())
            text += ", lost";
        else if (state.paused || state.ended)
            text += state.paused ? ", paused" : ", at the end";
    } else if (!several()) {
        for (const auto& figure : cameras.front().course.figures())
            if (figure.name == "frames" || figure.name == "bandwidth" || figure.name == "threshold")
                text += ", " + figure.text;
    }
    if (text != drawn_title) window->set_title(drawn_title = text);
}

}  // namespace framewire::app
