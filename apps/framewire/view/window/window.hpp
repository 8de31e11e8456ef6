#pragma once

#include "framewire/core/view.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// Where a picture of the window goes: a cell of a grid, which it fills as far as its aspect lets it, and which part of
/// it is seen there, from its left edge 0 to its right edge 1.
struct Place {
    std::size_t picture = 0;
    int column = 0, row = 0;
    double from = 0, to = 1;
};

/// Words over a cell of the grid.
struct Words {
    std::string text;
    int column = 0, row = 0;
    enum class Corner { upper_left, lower_left, middle } corner = Corner::upper_left;
    bool alarming = false;

    friend bool operator==(const Words&, const Words&) = default;
};

/// A window that shows pictures, each of a shape of its own, resizable, keeping their aspect. All calls but wake() are
/// for one thread, the program's first; they throw Error{io} when the display is gone.
class Window {
public:
    /// Shows picture 0 alone at first. Throws Error{config} without a display or when the build has no windows; it
    /// advises `instead` then.
    Window(const std::vector<Shape>& pictures, const std::string& title, std::string_view instead = {});
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    /// True when this build has windows.
    static bool supported();

    /// How pictures lie in `columns` x `rows` cells, later ones over earlier ones. The window takes a size that suits
    /// the first arrangement.
    void arrange(int columns, int rows, const std::vector<Place>& places);
    /// What stands over the pictures from the next draw() on.
    void set_words(const std::vector<Words>& words);
    /// Takes a picture, seen from the next draw() on.
    void take(HostView<const std::uint8_t> picture, std::size_t number = 0);
    void draw();
    void set_title(const std::string& title);
    void set_full_screen(bool full);
    bool full_screen() const;

    /// Handles what the user does, waiting for it or for wake() up to `longest`; false once the user wants it closed by
    /// the window's own button.
    bool wait(std::chrono::milliseconds longest);
    /// Keys pressed in wait() since the last call: the character that they give ("q", "?", " "), or the name of one
    /// that gives none ("Left", "Escape", "Home").
    std::vector<std::string> take_keys();
    /// Ends a wait(); from any thread.
    void wake();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::app
