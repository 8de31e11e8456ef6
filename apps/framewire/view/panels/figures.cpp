// The panel with statistics and plots.

#include "view/panels/panels.hpp"
#include "view/shown_text.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <vector>

namespace framewire::app {
namespace {

constexpr std::size_t most_values = 120;  // one minute
constexpr ImGuiWindowFlags looked_at = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs |
                                       ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize;

// Draws text without interpreting it as a format string.
void words(std::string_view text) { ImGui::TextUnformatted(text.data(), text.data() + text.size()); }

// Draws a name and moves to the cell of its value.
void name_cell(std::string_view name) {
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    words(name);
    ImGui::PopStyleColor();
    ImGui::TableNextColumn();
}

// Draws the plot of a value's history.
void draw_course(std::string_view name, const std::deque<float>& values) {
    const std::vector<float> all(values.begin(), values.end());
    const float most = std::max(*std::ranges::max_element(all), 1e-3F);
    name_cell(name);
    const auto id = fmt::format("##{}", name);
    ImGui::PlotLines(id.c_str(), all.data(), static_cast<int>(all.size()), 0, nullptr, 0, 1.15F * most,
                     {10 * ImGui::GetFontSize(), 2 * ImGui::GetTextLineHeight()});
}

}  // namespace

void FigureCourse::add(std::vector<Figure> figures) {
    figures_ = std::move(figures);
    for (const auto& figure : figures_) {
        if (!figure.plotted) continue;
        auto& values = values_[figure.name];
        values.push_back(static_cast<float>(*figure.plotted));
        if (values.size() > most_values) values.pop_front();
    }
}

const std::deque<float>* FigureCourse::values(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
}

void draw_figures(const Area& area, std::size_t number, const std::string& name, const FigureCourse& course) {
    const float line = ImGui::GetTextLineHeightWithSpacing();
    const auto& figures = course.figures();
    ImGui::SetNextWindowPos({area.x + 8, area.y + 8});
    const auto id = fmt::format("figures {}", number);
    ImGui::SetNextWindowSizeConstraints({0, 0}, {std::max(40.0F, area.width - 16), std::max(20.0F, area.height - 16)});
    ImGui::Begin(id.c_str(), nullptr, looked_at);
    words(shown_text(name));
    // In a small area the last lines are omitted.
    int left = std::max(0, static_cast<int>((area.height - 32) / line) - 1);
    if (ImGui::BeginTable("figures", 2, ImGuiTableFlags_SizingFixedFit)) {
        for (const auto& figure : figures) {
            if (left-- <= 0) break;
            name_cell(figure.name);
            words(shown_text(figure.text));
        }
        for (const auto& figure : figures) {
            const auto* values = course.values(figure.name);
            if (!values || !figure.plotted) continue;
            if ((left -= 2) < 0) break;
            draw_course(figure.name, *values);
        }
        ImGui::EndTable();
    }
    ImGui::End();
}

}  // namespace framewire::app
