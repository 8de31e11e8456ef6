#include "view/window.hpp"

#include "view/display_loss.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time/clock.hpp"
#include "view/shown_text.hpp"

#include <SDL.h>

#include <algorithm>
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
    VideoSystem() {
        SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // signals are the program's own affair
        SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
        SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
        if (SDL_Init(SDL_INIT_VIDEO) != 0)
            fail(ErrorCode::config, "no window can be opened ({}); --no-window does without", SDL_GetError());
        if (!SDL_getenv("SDL_VIDEODRIVER") && draws_for_nobody(SDL_GetCurrentVideoDriver())) {
            SDL_Quit();
            fail(ErrorCode::config, "no window can be opened (there is no display); --no-window does without");
        }
    }
    ~VideoSystem() {
        if (!display_lost()) SDL_Quit();
    }
};

struct Destroy {
    // What a lost display had is left to the end of the program.
    void operator()(SDL_Window* window) const {
        if (!display_lost()) SDL_DestroyWindow(window);
    }
    void operator()(SDL_Renderer* renderer) const {
        if (!display_lost()) SDL_DestroyRenderer(renderer);
    }
    void operator()(SDL_Texture* texture) const {
        if (!display_lost()) SDL_DestroyTexture(texture);
    }
};

template <class T>
std::unique_ptr<T, Destroy> made(T* object, const char* what) {
    if (!object) fail(ErrorCode::config, "no {} for the window ({}); --no-window does without", what, SDL_GetError());
    return std::unique_ptr<T, Destroy>(object);
}

// The picture's own size, or what of it fits the screen.
std::pair<int, int> size_on_screen(const Shape& picture) {
    SDL_Rect screen{};
    double scale = 1;
    if (SDL_GetDisplayUsableBounds(0, &screen) == 0 && screen.w > 0 && screen.h > 0)
        scale = std::min({1.0, largest_share_of_screen * screen.w / picture.width,
                          largest_share_of_screen * screen.h / picture.height});
    const auto side = [&](int px) { return std::max(smallest_side_px, static_cast<int>(scale * px)); };
    return {side(picture.width), side(picture.height)};
}

}  // namespace

struct Window::State {
    State(const Shape& picture, const std::string& title) : shape(picture) {
        const auto [width, height] = size_on_screen(picture);
        window = made(SDL_CreateWindow(shown_text(title).c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, width,
                                       height, SDL_WINDOW_RESIZABLE),
                      "window");
        survive_display_loss(*window);
        renderer.reset(SDL_CreateRenderer(window.get(), -1, SDL_RENDERER_ACCELERATED));
        if (!renderer) renderer = made(SDL_CreateRenderer(window.get(), -1, SDL_RENDERER_SOFTWARE), "renderer");
        SDL_RenderSetLogicalSize(renderer.get(), picture.width, picture.height);  // keeps the aspect
        texture = made(SDL_CreateTexture(renderer.get(), SDL_PIXELFORMAT_BGR24, SDL_TEXTUREACCESS_STREAMING,
                                         picture.width, picture.height),
                       "texture");
        draw();
    }

    void draw() {
        require_display();
        SDL_RenderClear(renderer.get());
        if (shown) SDL_RenderCopy(renderer.get(), texture.get(), nullptr, nullptr);
        SDL_RenderPresent(renderer.get());
    }

    static void require_display() {
        if (display_lost()) fail(ErrorCode::io, "the display is gone, and the window with it");
    }

    // False when the event asks to close.
    bool handle(const SDL_Event& event) {
        if (event.type == SDL_QUIT) return false;
        if (event.type == SDL_KEYDOWN && (event.key.keysym.sym == SDLK_q || event.key.keysym.sym == SDLK_ESCAPE))
            return false;
        if (event.type == SDL_WINDOWEVENT) draw();  // uncovered, resized
        return true;
    }

    Shape shape;
    VideoSystem video;
    std::unique_ptr<SDL_Window, Destroy> window;
    std::unique_ptr<SDL_Renderer, Destroy> renderer;
    std::unique_ptr<SDL_Texture, Destroy> texture;
    std::mutex mutex;
    std::condition_variable changed;
    bool woken = false;
    bool shown = false;
};

bool Window::supported() { return true; }

Window::Window(const Shape& picture, const std::string& title) : state_(std::make_unique<State>(picture, title)) {}
Window::~Window() = default;

void Window::show(HostView<const std::uint8_t> picture) {
    auto& state = *state_;
    validate(picture, state.shape, "the picture to show");
    void* pixels = nullptr;
    int pitch = 0;
    if (SDL_LockTexture(state.texture.get(), nullptr, &pixels, &pitch) != 0)
        fail(ErrorCode::internal, "a picture cannot be shown: {}", SDL_GetError());
    for (int y = 0; y < state.shape.height; ++y) {
        const auto* from = picture.row(0, y);
        auto* to = static_cast<std::uint8_t*>(pixels) + std::int64_t{pitch} * y;
        if (state.shape.channels == 3)
            std::copy_n(from, state.shape.row_bytes(), to);
        else
            for (int x = 0; x < state.shape.width; ++x) std::fill_n(to + 3 * std::int64_t{x}, 3, from[x]);
    }
    SDL_UnlockTexture(state.texture.get());
    state.shown = true;
    state.draw();
}

void Window::set_title(const std::string& title) {
    State::require_display();
    SDL_SetWindowTitle(state_->window.get(), shown_text(title).c_str());
}

bool Window::wait(std::chrono::milliseconds longest) {
    auto& state = *state_;
    const auto end = Clock::now() + longest;
    for (;;) {
        State::require_display();
        bool any = false;
        for (SDL_Event event; SDL_PollEvent(&event) != 0; any = true)
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
