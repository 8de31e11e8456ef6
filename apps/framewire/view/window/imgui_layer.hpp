#pragma once

#include <SDL.h>

#include <memory>

namespace framewire::app {

/// Dear ImGui over a renderer of SDL's: its font, its look, the mouse for it, and what it drew. There is one at a time.
/// Its own backends call SDL directly, which is loaded late here.
class ImguiLayer {
public:
    explicit ImguiLayer(SDL_Renderer& renderer);
    ~ImguiLayer();
    ImguiLayer(const ImguiLayer&) = delete;
    ImguiLayer& operator=(const ImguiLayer&) = delete;

    /// Tells it what the mouse does.
    void handle(const SDL_Event& event);
    /// Whether the mouse is over a panel, or moves something of one.
    bool has_mouse() const;

    /// Begins a picture of so many pixels; ImGui's calls go between it and end(), which draws.
    void begin(int width, int height);
    void end();

private:
    struct DestroyTexture {
        void operator()(SDL_Texture* texture) const;
    };

    void make_font(int size_px);

    SDL_Renderer* renderer_;
    std::unique_ptr<SDL_Texture, DestroyTexture> font_;
    int font_px_ = 0;
    bool held_ = false, pressed_ = false;  // a press between two pictures counts, too
    Uint64 drawn_at_ = 0;
};

}  // namespace framewire::app
