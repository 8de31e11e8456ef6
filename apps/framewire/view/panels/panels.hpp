#pragma once

#include "view/camera/camera.hpp"
#include "view/screen/keys.hpp"
#include "view/window/window.hpp"

#include "framewire/service/control.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Overlays on the pictures, drawn with Dear ImGui during Window::draw().
namespace framewire::app {

/// History of the statistics of a camera.
class FigureCourse {
public:
    /// Adds the newest statistics of a camera.
    void add(std::vector<Figure> figures);
    const std::vector<Figure>& figures() const { return figures_; }
    /// Returns the values from oldest to newest; null if there are none.
    const std::deque<float>* values(std::string_view name) const;

private:
    std::vector<Figure> figures_;
    std::map<std::string_view, std::deque<float>> values_;
};

/// Position of a caption in its area.
enum class Corner { upper_left, lower_right, lower_left, middle };
/// Style of a caption.
enum class Tone { quiet, alarming, recording };

/// Draws text at a position in an area, wrapped to the area's width.
void draw_caption(const Area& area, Corner corner, Tone tone, std::string_view text);
/// Draws a thin frame around the selected camera.
void draw_frame(const Area& area);
/// Draws a camera's statistics, some of them with plots, in the upper left corner of the area. A small area shows
/// fewer. `number` distinguishes the panels of several cameras.
void draw_figures(const Area& area, std::size_t number, const std::string& name, const FigureCourse& course);
/// Draws sliders and switches at the right edge of the window. Returns a control request for each one that the user
/// moved. `refusal` is the reason for which the last request was rejected.
std::vector<service::ControlRequest> draw_controls(int width, int height, const std::string& name,
                                                   const std::optional<service::Controls>& controls,
                                                   std::string_view refusal);
/// Draws the list of available keys.
void draw_help(int width, int height, bool played, bool several);

}  // namespace framewire::app
