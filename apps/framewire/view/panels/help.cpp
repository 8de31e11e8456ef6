#include "view/panels/panels.hpp"

#include <imgui.h>

namespace framewire::app {
namespace {

// Returns true if the keys of a line are available.
bool means_something(const KeyLine& line, bool played, bool several) {
    switch (line.for_what) {
        case KeyLine::For::played: return played;
        case KeyLine::For::several: return several;
        case KeyLine::For::all: break;
    }
    return true;
}

// Draws a cell of the table.
void cell(std::string_view text, bool dim) {
    ImGui::TableNextColumn();
    if (dim) ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    if (dim) ImGui::PopStyleColor();
}

}  // namespace

void draw_help(int width, int height, bool played, bool several) {
    std::vector<const KeyLine*> lines;
    for (const auto& line : key_lines())
        if (means_something(line, played, several)) lines.push_back(&line);
    // Two columns are used if one would be higher than the window.
    const bool is_high = static_cast<float>(lines.size() + 2) * ImGui::GetTextLineHeightWithSpacing() >
                         0.9F * static_cast<float>(height);
    const std::size_t columns = is_high ? 2 : 1, rows = (lines.size() + columns - 1) / columns;
    ImGui::SetNextWindowPos({static_cast<float>(width) / 2, static_cast<float>(height) / 2}, ImGuiCond_Always,
                            {0.5F, 0.5F});
    ImGui::Begin("help", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_AlwaysAutoResize);
    if (ImGui::BeginTable("keys", static_cast<int>(2 * columns), ImGuiTableFlags_SizingFixedFit)) {
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < columns; ++column) {
                const auto index = column * rows + row;
                if (index >= lines.size()) continue;
                cell(lines[index]->shown, false);
                cell(lines[index]->help, true);
            }
        ImGui::EndTable();
    }
    ImGui::End();
}

}  // namespace framewire::app
