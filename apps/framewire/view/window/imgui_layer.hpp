#pragma once

#include <SDL.h>

#include <deque>
#include <memory>
#include <optional>

namespace framewire::app {

/// Dear ImGui over a renderer of SDL's: its font, its look, the mouse for it, and what it drew. There is one at a time.
/// Its own backends call SDL directly, which is loaded late here.
class ImguiLayer {
public:
    explicit ImguiLayer(SDL_Renderer& renderer);
    ~ImguiLayer();
    ImguiLayer(const ImguiLayer&) = delete;
    ImguiLayer& operator=(const ImguiLayer&) = delete;

    /// Queues what the mouse does.
    void handle(const SDL_Event& event);
    /// Returns true if queued mouse events are left for further frames.
    bool has_queued() const { return !queue_.empty(); }

    /// Begins a frame of so many pixels and passes queued mouse events to ImGui: as many as one frame can tell apart.
    /// ImGui's calls go between it and end(), which draws. Returns where the left button was pressed beside all panels.
    std::optional<SDL_FPoint> begin(int width, int height);
    void end();

private:
    struct DestroyTexture {
        void operator()(SDL_Texture* texture) const;
    };

    // A move of the mouse, or a press or release of the left button where the mouse is.
    struct MouseEvent {
        std::optional<SDL_FPoint> moved_to{};
        bool held = false;
    };

    void make_font(int size_px);
    void queue_move(SDL_FPoint to);
    // Returns true if the left button was pressed.
    bool take_queued();

    SDL_Renderer* renderer_;
    std::unique_ptr<SDL_Texture, DestroyTexture> font_;
    int font_px_ = 0;
    std::deque<MouseEvent> queue_;  // moves in a row are one
    bool held_ = false;             // once the queue is empty
    Uint64 drawn_at_ = 0;
};

}  // namespace framewire::app
