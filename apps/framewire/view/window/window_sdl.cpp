#include "view/window/window.hpp"

#include "view/display_loss.hpp"
#include "view/drawn_words.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time/clock.hpp"
#include "view/shown_text.hpp"
#include "view/window/sdl_functions.hpp"

#include <SDL.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <utility>

namespace framewire::app {
namespace {

constexpr double largest_share_of_screen = 0.9;
constexpr int smallest_side_px = 64;
constexpr std::chrono::milliseconds event_period{8};  // how often it is looked what the user does

// What SDL falls back to where there is no display.
bool draws_for_nobody(std::string_view driver) { return driver == "offscreen" || driver == "dummy"; }

struct VideoSystem {
    explicit VideoSystem(std::string_view instead) {
        load(instead);
        sdl().SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // signals are the program's own affair
        sdl().SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
        sdl().SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
        if (sdl().SDL_Init(SDL_INIT_VIDEO) != 0)
            fail(ErrorCode::config, "no window can be opened ({}){}", sdl().SDL_GetError(), instead);
        if (!sdl().SDL_getenv("SDL_VIDEODRIVER") && draws_for_nobody(sdl().SDL_GetCurrentVideoDriver())) {
            sdl().SDL_Quit();
            fail(ErrorCode::config, "no window can be opened (there is no display){}", instead);
        }
    }
    static void load(std::string_view instead) try { sdl(); } catch (const Error& error) {
        fail(ErrorCode::config, "no window can be opened ({}){}", error.what(), instead);
    }
    ~VideoSystem() {
        if (!display_lost()) sdl().SDL_Quit();
    }
};

struct Destroy {
    // What a lost display had is left to the end of the program.
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

template <class T>
std::unique_ptr<T, Destroy> made(T* object, const char* what) {
    if (!object) fail(ErrorCode::config, "no {} for the window ({})", what, sdl().SDL_GetError());
    return std::unique_ptr<T, Destroy>(object);
}

// The whole grid's own size, or what of it fits the screen.
std::pair<int, int> size_on_screen(double width, double height) {
    SDL_Rect screen{};
    double scale = 1;
    if (sdl().SDL_GetDisplayUsableBounds(0, &screen) == 0 && screen.w > 0 && screen.h > 0)
        scale =
            std::min({1.0, largest_share_of_screen * screen.w / width, largest_share_of_screen * screen.h / height});
    const auto side = [&](double px) { return std::max(smallest_side_px, static_cast<int>(scale * px)); };
    return {side(width), side(height)};
}

// The key's name where it gives no character.
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
        default: return {};
    }
}

}  // namespace

const SdlFunctions& sdl() {
    static const SdlFunctions functions;
    return functions;
}

struct Window::State {
    State(const std::vector<Shape>& pictures, const std::string& title, std::string_view instead)
        : video(instead), shapes(pictures), shown(pictures.size()) {
        const auto [width, height] = size_on_screen(shapes.front().width, shapes.front().height);
        window = made(sdl().SDL_CreateWindow(shown_text(title).c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                             width, height, SDL_WINDOW_RESIZABLE),
                      "window");
        survive_display_loss(*window);
        renderer.reset(sdl().SDL_CreateRenderer(window.get(), -1, SDL_RENDERER_ACCELERATED));
        if (!renderer) renderer = made(sdl().SDL_CreateRenderer(window.get(), -1, SDL_RENDERER_SOFTWARE), "renderer");
        for (const auto& shape : shapes)
            textures.push_back(made(sdl().SDL_CreateTexture(renderer.get(), SDL_PIXELFORMAT_BGR24,
                                                            SDL_TEXTUREACCESS_STREAMING, shape.width, shape.height),
                                    "texture"));
        draw();
    }

    void draw() {
        require_display();
        sdl().SDL_SetRenderDrawColor(renderer.get(), 0, 0, 0, 255);
        sdl().SDL_RenderClear(renderer.get());
        for (const auto& place : places)
            if (shown[place.picture]) draw(place);
        for (const auto& each : words) draw(each);
        sdl().SDL_RenderPresent(renderer.get());
    }

    SDL_FRect cell(int column, int row) const {
        int width = 0, height = 0;
        sdl().SDL_GetRendererOutputSize(renderer.get(), &width, &height);
        const float cell_width = static_cast<float>(width) / static_cast<float>(columns);
        const float cell_height = static_cast<float>(height) / static_cast<float>(rows);
        return {static_cast<float>(column) * cell_width, static_cast<float>(row) * cell_height, cell_width,
                cell_height};
    }

    void draw(const Place& place) {
        const auto room = cell(place.column, place.row);
        const auto& shape = shapes[place.picture];
        const auto width = static_cast<float>(shape.width), height = static_cast<float>(shape.height);
        const float scale = std::min(room.w / width, room.h / height);
        const auto share = static_cast<float>(place.to - place.from);
        const SDL_FRect to{room.x + (room.w - scale * width) / 2 + scale * width * static_cast<float>(place.from),
                           room.y + (room.h - scale * height) / 2, scale * width * share, scale * height};
        const int from_x = static_cast<int>(std::lround(place.from * shape.width));
        const int to_x = static_cast<int>(std::lround(place.to * shape.width));
        const SDL_Rect from{from_x, 0, to_x - from_x, shape.height};
        sdl().SDL_RenderCopyF(renderer.get(), textures[place.picture].get(), &from, &to);
    }

    void draw(const Words& each) {
        const auto room = cell(each.column, each.row);
        const int size_px = std::clamp(static_cast<int>(std::min(room.w / 45, room.h / 24)), 10, 28);
        const auto picture = drawn.draw(each.text, size_px, static_cast<int>(room.w) - size_px, each.alarming);
        if (picture.empty()) return;
        const std::unique_ptr<SDL_Texture, Destroy> texture(sdl().SDL_CreateTexture(
            renderer.get(), SDL_PIXELFORMAT_BGRA32, SDL_TEXTUREACCESS_STATIC, picture.width, picture.height));
        if (!texture) return;  // larger than the renderer's textures may be
        sdl().SDL_UpdateTexture(texture.get(), nullptr, picture.pixels.data(), 4 * picture.width);
        sdl().SDL_SetTextureBlendMode(texture.get(), SDL_BLENDMODE_BLEND);
        // What is too long for the cell becomes smaller.
        const auto width = static_cast<float>(picture.width), height = static_cast<float>(picture.height);
        const float gap = static_cast<float>(size_px) / 2;
        const float scale = std::min({1.0F, (room.w - 2 * gap) / width, (room.h - 2 * gap) / height});
        if (scale <= 0) return;
        SDL_FRect to{room.x + gap, room.y + gap, scale * width, scale * height};
        if (each.corner == Words::Corner::lower_left) to.y = room.y + room.h - gap - to.h;
        if (each.corner == Words::Corner::middle) {
            to.x = room.x + (room.w - to.w) / 2;
            to.y = room.y + (room.h - to.h) / 2;
        }
        sdl().SDL_RenderCopyF(renderer.get(), texture.get(), nullptr, &to);
    }

    static void require_display() {
        if (display_lost()) fail(ErrorCode::io, "the display is gone, and the window with it");
    }

    // False when the event asks to close.
    bool handle(const SDL_Event& event) {
        if (event.type == SDL_QUIT) return false;
        if (event.type == SDL_TEXTINPUT) keys.emplace_back(event.text.text);
        if (event.type == SDL_KEYDOWN)
            if (const auto name = name_of(event.key.keysym.sym); !name.empty()) keys.emplace_back(name);
        if (event.type == SDL_WINDOWEVENT) draw();  // uncovered, resized
        return true;
    }

    VideoSystem video;
    std::vector<Shape> shapes;
    std::unique_ptr<SDL_Window, Destroy> window;
    std::unique_ptr<SDL_Renderer, Destroy> renderer;
    std::vector<std::unique_ptr<SDL_Texture, Destroy>> textures;
    std::vector<bool> shown;  // pictures that there are
    int columns = 1, rows = 1;
    std::vector<Place> places{{}};
    std::vector<Words> words;
    DrawnWords drawn;
    std::vector<std::string> keys;
    bool arranged = false;
    bool full = false;
    std::mutex mutex;
    std::condition_variable changed;
    bool woken = false;
};

bool Window::supported() { return true; }

Window::Window(const std::vector<Shape>& pictures, const std::string& title, std::string_view instead)
    : state_(std::make_unique<State>(pictures, title, instead)) {}
Window::~Window() = default;

void Window::arrange(int columns, int rows, const std::vector<Place>& places) {
    auto& state = *state_;
    State::require_display();
    state.columns = columns;
    state.rows = rows;
    state.places = places;
    if (std::exchange(state.arranged, true)) return;
    int width = 1, height = 1;
    for (const auto& place : places) {
        width = std::max(width, state.shapes[place.picture].width);
        height = std::max(height, state.shapes[place.picture].height);
    }
    const auto [fit_width, fit_height] = size_on_screen(double(width) * columns, double(height) * rows);
    sdl().SDL_SetWindowSize(state.window.get(), fit_width, fit_height);
    sdl().SDL_SetWindowPosition(state.window.get(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED);
}

void Window::set_words(const std::vector<Words>& words) { state_->words = words; }

void Window::take(HostView<const std::uint8_t> picture, std::size_t number) {
    auto& state = *state_;
    const auto& shape = state.shapes[number];
    validate(picture, shape, "the picture to show");
    State::require_display();
    void* pixels = nullptr;
    int pitch = 0;
    if (sdl().SDL_LockTexture(state.textures[number].get(), nullptr, &pixels, &pitch) != 0)
        fail(ErrorCode::internal, "a picture cannot be shown: {}", sdl().SDL_GetError());
    for (int y = 0; y < shape.height; ++y) {
        const auto* from = picture.row(0, y);
        auto* to = static_cast<std::uint8_t*>(pixels) + std::int64_t{pitch} * y;
        if (shape.channels == 3)
            std::copy_n(from, shape.row_bytes(), to);
        else
            for (int x = 0; x < shape.width; ++x) std::fill_n(to + 3 * std::int64_t{x}, 3, from[x]);
    }
    sdl().SDL_UnlockTexture(state.textures[number].get());
    state.shown[number] = true;
}

void Window::draw() { state_->draw(); }

void Window::set_title(const std::string& title) {
    State::require_display();
    sdl().SDL_SetWindowTitle(state_->window.get(), shown_text(title).c_str());
}

void Window::set_full_screen(bool full) {
    State::require_display();
    if (sdl().SDL_SetWindowFullscreen(state_->window.get(), full ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0) == 0)
        state_->full = full;
}

bool Window::full_screen() const { return state_->full; }

std::vector<std::string> Window::take_keys() { return std::exchange(state_->keys, {}); }

bool Window::wait(std::chrono::milliseconds longest) {
    auto& state = *state_;
    const auto end = Clock::now() + longest;
    for (;;) {
        State::require_display();
        bool any = false;
        for (SDL_Event event; sdl().SDL_PollEvent(&event) != 0; any = true)
            if (!state.handle(event)) return false;
        State::require_display();
        if (any || Clock::now() >= end) return true;
        std::unique_lock lock(state.mutex);
        const bool woken =
            state.changed.wait_until(lock, std::min(end, Clock::now() + event_period), [&] { return state.woken; });
        state.woken = false;
        if (woken) return true;
    }
}

// Not by an event of SDL's, which would speak to the display from this thread, on a connection whose end ends the
// program.
void Window::wake() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->woken = true;
    }
    state_->changed.notify_one();
}

}  // namespace framewire::app
