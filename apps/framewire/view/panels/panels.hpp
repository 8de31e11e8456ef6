#pragma once

#include "view/camera/camera.hpp"
#include "view/screen/keys.hpp"
#include "view/window/window.hpp"

#include "framewire/session/control/control.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What lies over pictures, drawn with Dear ImGui within Window::draw().
namespace framewire::app {

/// How the values of figures went.
class FigureCourse {
public:
    /// Takes a camera's newest figures.
    void add(std::vector<Figure> figures);
    const std::vector<Figure>& figures() const { return figures_; }
    /// Values from old to new; null where there are none.
    const std::deque<float>* values(std::string_view name) const;

private:
    std::vector<Figure> figures_;
    std::map<std::string_view, std::deque<float>> values_;
};

enum class Corner { upper_left, lower_right, lower_left, middle };
enum class Tone { quiet, alarming, recording };

/// Words in a corner of an area, within it, broken into lines where they are wide.
void draw_caption(const Area& area, Corner corner, Tone tone, std::string_view text);
/// A thin frame around the camera that keys are for.
void draw_frame(const Area& area);
/// A camera's figures, with the course of some, in the area's upper left corner; less of them where it is small.
/// `number` tells cameras apart.
void draw_figures(const Area& area, std::size_t number, const std::string& name, const FigureCourse& course);
/// Sliders and switches at the right of the window; what the user moved is ordered. `refusal` is why the last order was
/// not taken.
std::vector<session::ControlOrder> draw_controls(int width, int height, const std::string& name,
                                                 const std::optional<session::Controls>& controls,
                                                 std::string_view refusal);
/// The keys that mean something here.
void draw_help(int width, int height, bool played, bool several);

}  // namespace framewire::app
