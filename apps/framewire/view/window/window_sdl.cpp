// The window, based on SDL 2. Every SDL call runs on the window's thread (WindowThread::run()), because SDL's video
// functions must be called from a single thread, and because a lost X display blocks that thread forever.

#include "view/window/window.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "view/shown_text.hpp"
#include "view/window/imgui_layer.hpp"
#include "view/window/sdl_functions.hpp"
#include "view/window/window_thread.hpp"

#include <SDL.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace framewire::app {
namespace {

constexpr double largest_share_of_screen = 0.9;
constexpr int smallest_side_px = 64;
constexpr std::chrono::milliseconds event_period{8};  // polling interval for user input

// Returns true for the drivers that SDL falls back to if there is no display.
bool draws_for_nobody(std::string_view driver) { return driver == "offscreen" || driver == "dummy"; }

// SDL's video subsystem. The constructor fails if there is no real display.
struct VideoSystem {
    explicit VideoSystem(std::string_view instead) {
        load(instead);
        sdl().SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // the program handles signals itself
        sdl().SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
        sdl().SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
        if (sdl().SDL_Init(SDL_INIT_VIDEO) != 0)
            fail(ErrorCode::config, "cannot open a window ({}){}", sdl().SDL_GetError(), instead);
        survive_display_loss();
        if (!sdl().SDL_getenv("SDL_VIDEODRIVER") && draws_for_nobody(sdl().SDL_GetCurrentVideoDriver())) {
            sdl().SDL_Quit();
            fail(ErrorCode::config, "cannot open a window (there is no display){}", instead);
        }
    }
    // Loads SDL. A failure is reported like a missing display.
    static void load(std::string_view instead) try { sdl(); } catch (const Error& error) {
        fail(ErrorCode::config, "cannot open a window ({}){}", error.what(), instead);
    }
    ~VideoSystem() {
        if (!display_lost()) sdl().SDL_Quit();
    }
};

struct Destroy {
    // After a display loss nothing may be destroyed; the memory is freed when the process ends.
    void operator()(SDL_Window* window) const {
        if (!display_lost()) sdl().SDL_DestroyWindow(window);
    }
    void operator()(SDL_Renderer* renderer) const {
        if (!display_lost()) sdl().SDL_DestroyRenderer(renderer);
    }
    void operator()(SDL_Texture* texture) const {
        if (!display_lost()) sdl().SDL_DestroyTexture(texture);
    }
};

// Takes ownership of an SDL object. Throws Error{config} if it is null.
template <class T>
std::unique_ptr<T, Destroy> made(T* object, const char* what) {
    if (!object) fail(ErrorCode::config, "cannot create the SDL {} ({})", what, sdl().SDL_GetError());
    return std::unique_ptr<T, Destroy>(object);
}

// Returns the requested size, reduced if it does not fit the screen.
std::pair<int, int> size_on_screen(double width, double height) {
    SDL_Rect screen{};
    double scale = 1;
    if (sdl().SDL_GetDisplayUsableBounds(0, &screen) == 0 && screen.w > 0 && screen.h > 0)
        scale =
            std::min({1.0, largest_share_of_screen * screen.w / width, largest_share_of_screen * screen.h / height});
    const auto side = [&](double px) { return std::max(smallest_side_px, static_cast<int>(scale * px)); };
    return {side(width), side(height)};
}

// Returns the name of a key that produces no character; empty for other keys.
std::string_view name_of(SDL_Keycode key) {
    switch (key) {
        case SDLK_LEFT: return "Left";
        case SDLK_RIGHT: return "Right";
        case SDLK_UP: return "Up";
        case SDLK_DOWN: return "Down";
        case SDLK_HOME: return "Home";
        case SDLK_END: return "End";
        case SDLK_ESCAPE: return "Escape";
        case SDLK_BACKSPACE: return "Backspace";
        case SDLK_RETURN:
        case SDLK_KP_ENTER: return "Enter";
        case SDLK_TAB: return "Tab";
        default: return {};
    }
}

}  // namespace

const SdlFunctions& sdl() {
    static const SdlFunctions functions;
    return functions;
}

// Everything that SDL owns. Used only on the window's thread, except the members for wake().
struct Window::State {
    State(int wanted_width, int wanted_height, const std::string& title, std::string_view instead) : video(instead) {
        const auto [fit_width, fit_height] = size_on_screen(wanted_width, wanted_height);
        window = made(sdl().SDL_CreateWindow(shown_text(title).c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                             fit_width, fit_height, SDL_WINDOW_RESIZABLE),
                      "window");
        // A GPU renderer is preferred; without a GPU a software renderer is used.
        renderer.reset(sdl().SDL_CreateRenderer(window.get(), -1, SDL_RENDERER_ACCELERATED));
        if (!renderer) renderer = made(sdl().SDL_CreateRenderer(window.get(), -1, SDL_RENDERER_SOFTWARE), "renderer");
        panels.emplace(*renderer);
        measure();
    }

    // Updates the size after the window was resized.
    void measure() { sdl().SDL_GetRendererOutputSize(renderer.get(), &width, &height); }

    // Draws one picture, scaled to its area with its aspect ratio.
    void draw(const Place& place) {
        if (place.picture >= pictures.size() || !pictures[place.picture].texture) return;
        const auto& [shape, texture] = pictures[place.picture];
        const auto& room = place.area;
        const auto of_width = static_cast<float>(shape.width), of_height = static_cast<float>(shape.height);
        // The picture is centred in its area. `from` and `to` select a range of columns in both.
        const float scale = std::min(room.width / of_width, room.height / of_height);
        const auto share = static_cast<float>(place.to - place.from);
        const SDL_FRect to{
            room.x + (room.width - scale * of_width) / 2 + scale * of_width * static_cast<float>(place.from),
            room.y + (room.height - scale * of_height) / 2, scale * of_width * share, scale * of_height};
        const int from_x = static_cast<int>(std::lround(place.from * shape.width));
        const int to_x = static_cast<int>(std::lround(place.to * shape.width));
        const SDL_Rect from{from_x, 0, to_x - from_x, shape.height};
        sdl().SDL_RenderCopyF(renderer.get(), texture.get(), &from, &to);
    }

    void take(HostView<const std::uint8_t> picture, std::size_t number);
    bool wait(std::chrono::milliseconds longest);

    // Returns the texture for a picture. It is made again if the picture's shape has changed.
    SDL_Texture& texture_of(std::size_t number, const Shape& shape) {
        if (number >= pictures.size()) pictures.resize(number + 1);
        auto& picture = pictures[number];
        if (!picture.texture || picture.shape != shape) {
            picture.texture = made(sdl().SDL_CreateTexture(renderer.get(), SDL_PIXELFORMAT_BGR24,
                                                           SDL_TEXTUREACCESS_STREAMING, shape.width, shape.height),
                                   "texture");
            picture.shape = shape;
            sdl().SDL_SetTextureScaleMode(picture.texture.get(), scale_mode);
        }
        return *picture.texture;
    }

    // Handles an event. Returns false if the user closed the window.
    bool handle(const SDL_Event& event) {
        if (event.type == SDL_QUIT) return false;
        stirred = true;
        // Characters arrive as text input, which respects the keyboard layout. Other keys are identified by name.
        if (event.type == SDL_TEXTINPUT) keys.emplace_back(event.text.text);
        if (event.type == SDL_KEYDOWN)
            if (const auto name = name_of(event.key.keysym.sym); !name.empty()) keys.emplace_back(name);
        if (event.type == SDL_WINDOWEVENT) {
            measure();
            if (event.window.event == SDL_WINDOWEVENT_LEAVE) pointer.reset();
        }
        if (event.type == SDL_MOUSEMOTION)
            pointer = {static_cast<float>(event.motion.x), static_cast<float>(event.motion.y)};
        panels->handle(event);
        return true;
    }

    // The texture of one picture, with the picture's shape.
    struct Picture {
        Shape shape{};
        std::unique_ptr<SDL_Texture, Destroy> texture{};
    };

    VideoSystem video;
    std::unique_ptr<SDL_Window, Destroy> window;
    std::unique_ptr<SDL_Renderer, Destroy> renderer;
    std::vector<Picture> pictures;
    std::optional<ImguiLayer> panels;
    SDL_ScaleMode scale_mode = SDL_ScaleModeLinear;
    int width = 1, height = 1;
    std::vector<std::string> keys;
    std::optional<Click> click, pointer;
    // true if there was input since the last take_stirred()
    bool stirred = false;
    bool full = false;
    // used by wake(), the only function that other threads call
    std::mutex mutex;
    std::condition_variable changed;
    bool woken = false;
};

Window::Window(int width, int height, const std::string& title, std::string_view instead) {
    thread_.run([&] { state_ = std::make_unique<State>(width, height, title, instead); });
}

Window::~Window() {
    try {
        thread_.run([this] { state_.reset(); });
    } catch (const Error&) {  // the display is lost, and SDL may still use the state
        static_cast<void>(state_.release());
    }
}

int Window::width() const { return state_->width; }
int Window::height() const { return state_->height; }

void Window::take(HostView<const std::uint8_t> picture, std::size_t number) {
    thread_.run([&] { state_->take(picture, number); });
}

// Copies a picture to its texture; gray is converted to BGR.
void Window::State::take(HostView<const std::uint8_t> picture, std::size_t number) {
    const auto& shape = picture.shape();
    auto& texture = texture_of(number, shape);
    void* pixels = nullptr;
    int pitch = 0;
    if (sdl().SDL_LockTexture(&texture, nullptr, &pixels, &pitch) != 0)
        fail(ErrorCode::internal, "cannot show a picture: {}", sdl().SDL_GetError());
    for (int y = 0; y < shape.height; ++y) {
        const auto* from = picture.row(0, y);
        auto* to = static_cast<std::uint8_t*>(pixels) + std::int64_t{pitch} * y;
        if (shape.channels == 3)
            std::copy_n(from, shape.row_bytes(), to);
        else
            for (int x = 0; x < shape.width; ++x) std::fill_n(to + 3 * std::int64_t{x}, 3, from[x]);
    }
    sdl().SDL_UnlockTexture(&texture);
}

std::optional<Shape> Window::shape_of(std::size_t number) const {
    if (number >= state_->pictures.size() || !state_->pictures[number].texture) return std::nullopt;
    return state_->pictures[number].shape;
}

void Window::set_sharp(bool sharp) {
    thread_.run([&] {
        state_->scale_mode = sharp ? SDL_ScaleModeNearest : SDL_ScaleModeLinear;
        for (const auto& picture : state_->pictures)
            if (picture.texture) sdl().SDL_SetTextureScaleMode(picture.texture.get(), state_->scale_mode);
    });
}

void Window::draw(const std::vector<Place>& places, const std::function<void()>& panels) {
    thread_.run([&] {
        auto& state = *state_;
        sdl().SDL_SetRenderDrawColor(state.renderer.get(), 0, 0, 0, 255);
        sdl().SDL_RenderClear(state.renderer.get());
        for (const auto& place : places) state.draw(place);
        if (const auto pressed = state.panels->begin(state.width, state.height)) {
            state.click = {pressed->x, pressed->y};
            state.stirred = true;
        }
        panels();
        state.panels->end();
        sdl().SDL_RenderPresent(state.renderer.get());
    });
}

void Window::set_title(const std::string& title) {
    thread_.run([&] { sdl().SDL_SetWindowTitle(state_->window.get(), shown_text(title).c_str()); });
}

void Window::set_full_screen(bool full) {
    thread_.run([&] {
        if (sdl().SDL_SetWindowFullscreen(state_->window.get(), full ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0) == 0)
            state_->full = full;
    });
}

bool Window::full_screen() const { return state_->full; }

std::vector<std::string> Window::take_keys() { return std::exchange(state_->keys, {}); }
std::optional<Click> Window::take_click() { return std::exchange(state_->click, std::nullopt); }
bool Window::take_stirred() { return std::exchange(state_->stirred, false) || state_->panels->has_queued(); }
std::optional<Click> Window::pointer() const { return state_->pointer; }

bool Window::wait(std::chrono::milliseconds longest) {
    bool open = true;
    thread_.run([&] { open = state_->wait(longest); });
    return open;
}

// Polls for events, because waking SDL's own wait would require communication with the display.
bool Window::State::wait(std::chrono::milliseconds longest) {
    const auto end = Clock::now() + longest;
    for (;;) {
        bool any = false;
        for (SDL_Event event; sdl().SDL_PollEvent(&event) != 0; any = true)
            if (!handle(event)) return false;
        if (any || Clock::now() >= end) return true;
        // Sleeps in short steps between polls; wake() ends the sleep.
        std::unique_lock lock(mutex);
        const bool was_woken =
            changed.wait_until(lock, std::min(end, Clock::now() + event_period), [&] { return woken; });
        woken = false;
        if (was_woken) return true;
    }
}

// Does not push an SDL event, because that would communicate with the display from this thread.
void Window::wake() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->woken = true;
    }
    state_->changed.notify_one();
}

}  // namespace framewire::app
