#pragma once

#include <SDL.h>

#include <deque>
#include <memory>
#include <optional>

namespace framewire::app {

/// Dear ImGui on an SDL renderer: font, style, mouse input and drawing. At most one object exists at a time. ImGui's
/// own SDL backends are not used, because they call SDL directly and this program loads SDL at run time.
class ImguiLayer {
public:
    explicit ImguiLayer(SDL_Renderer& renderer);
    ~ImguiLayer();
    ImguiLayer(const ImguiLayer&) = delete;
    ImguiLayer& operator=(const ImguiLayer&) = delete;

    /// Queues a mouse event.
    void handle(const SDL_Event& event);
    /// Returns true if queued mouse events remain for later frames.
    bool has_queued() const { return !queue_.empty(); }

    /// Starts a frame of width x height pixels and passes as many queued mouse events to ImGui as one frame can
    /// distinguish. Make ImGui calls between begin() and end(). Returns the position of the mouse if the left button
    /// was pressed outside all panels.
    std::optional<SDL_FPoint> begin(int width, int height);
    /// Draws the frame.
    void end();

private:
    struct DestroyTexture {
        void operator()(SDL_Texture* texture) const;
    };

    // A mouse motion, or a press or release of the left button at the current position.
    struct MouseEvent {
        std::optional<SDL_FPoint> moved_to{};
        bool held = false;
    };

    // Renders the font for this size, unless it is the current size.
    void make_font(int size_px);
    // Appends a motion to the queue, or extends the last one.
    void queue_move(SDL_FPoint to);
    // Passes queued events to ImGui. Returns true if the left button was pressed.
    bool take_queued();

    SDL_Renderer* renderer_;
    std::unique_ptr<SDL_Texture, DestroyTexture> font_;
    int font_px_ = 0;
    std::deque<MouseEvent> queue_;  // queued events; consecutive motions are merged
    bool held_ = false;             // true if the button is pressed after the queued events
    Uint64 drawn_at_ = 0;
};

}  // namespace framewire::app
