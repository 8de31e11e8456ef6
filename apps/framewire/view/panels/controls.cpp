// The panel with sliders and filter switches. It stores nothing: it shows the camera's settings and returns requests,
// so changes by other clients appear as well.

#include "view/panels/panels.hpp"
#include "view/shown_text.hpp"

#include <imgui.h>

#include <algorithm>

namespace framewire::app {
namespace {

// Draws a wrapped line of text.
void line_of(std::string_view text, bool dim = false) {
    const auto words = shown_text(text);
    if (dim) ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(words.data(), words.data() + words.size());
    ImGui::PopTextWrapPos();
    if (dim) ImGui::PopStyleColor();
}

constexpr ImGuiSliderFlags by_mouse = ImGuiSliderFlags_NoInput | ImGuiSliderFlags_AlwaysClamp;

// Draws the name and slider of a table row; whatever is drawn next goes to the third column. Returns true if the user
// moved the slider.
template <class Slide>
bool slider(const char* name, Slide&& slide) {
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextDisabled("%s", name);
    ImGui::TableNextColumn();
    ImGui::SetNextItemWidth(-FLT_MIN);
    ImGui::PushID(name);
    const bool moved = slide();
    ImGui::PopID();
    ImGui::TableNextColumn();
    return moved;
}

// Draws a slider for a factor, for which 1 is neutral.
bool factor(const char* name, double& value, double most) {
    auto moved = static_cast<float>(value);
    const bool changed =
        slider(name, [&] { return ImGui::SliderFloat("##", &moved, 0, static_cast<float>(most), "", by_mouse); });
    if (changed) value = moved;
    ImGui::Text("%.2f", value);
    return changed;
}

// Draws the sliders of the adjustment. Returns true if the user moved one.
bool sliders(Adjustment& adjustment) {
    bool changed = false;
    if (ImGui::BeginTable("sliders", 3)) {
        ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed);
        ImGui::TableSetupColumn("slider", ImGuiTableColumnFlags_WidthStretch);
        ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthFixed, ImGui::CalcTextSize("-255").x);
        changed |= slider("brightness",
                          [&] { return ImGui::SliderInt("##", &adjustment.brightness, -255, 255, "", by_mouse); });
        ImGui::Text("%+d", adjustment.brightness);
        changed |= factor("contrast", adjustment.contrast, 4);
        changed |= factor("saturation", adjustment.saturation, 4);
        changed |= factor("gain", adjustment.gain, 8);
        ImGui::EndTable();
    }
    if (ImGui::Button("as received")) {
        adjustment = {};
        changed = true;
    }
    return changed;
}

// Draws a check box per filter and appends a request for each click. A filter that cannot be switched shows the reason.
void switches(const std::vector<FilterSwitch>& filters, std::vector<service::ControlRequest>& requests) {
    ImGui::Spacing();
    ImGui::Separator();
    ImGui::Spacing();
    if (filters.empty()) return line_of("no filters", true);
    for (std::size_t index = 0; index < filters.size(); ++index) {
        const auto& filter = filters[index];
        bool on = filter.on;
        ImGui::PushID(static_cast<int>(index));
        ImGui::BeginDisabled(!filter.fixed_because.empty());
        if (ImGui::Checkbox("##on", &on)) requests.push_back(service::FilterRequest{index + 1, on});
        ImGui::SameLine();
        line_of(filter.text);  // drawn separately from the box, because '#' has a special meaning in ImGui labels
        ImGui::EndDisabled();
        ImGui::PopID();
        if (filter.fixed_because.empty()) continue;
        ImGui::Indent();
        line_of(filter.fixed_because, true);
        ImGui::Unindent();
    }
}

}  // namespace

std::vector<service::ControlRequest> draw_controls(int width, int height, const std::string& name,
                                                   const std::optional<service::Controls>& controls,
                                                   std::string_view refusal) {
    std::vector<service::ControlRequest> requests;
    const auto across = static_cast<float>(width), down = static_cast<float>(height);
    const float panel_width = std::min(22 * ImGui::GetFontSize(), across - 16);
    ImGui::SetNextWindowPos({across - 8, 8}, ImGuiCond_Always, {1, 0});
    ImGui::SetNextWindowSizeConstraints({panel_width, 0}, {panel_width, std::max(40.0F, down - 16)});
    ImGui::Begin("panel", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize);
    line_of(name);
    ImGui::Spacing();
    if (!controls) {
        line_of("the server does not accept control requests", true);
    } else {
        ImGui::BeginDisabled(!controls->fixed_because.empty());
        auto adjustment = controls->adjustment;
        if (sliders(adjustment)) requests.push_back(adjustment);
        ImGui::EndDisabled();
        if (!controls->fixed_because.empty()) line_of(controls->fixed_because, true);
        switches(controls->filters, requests);
    }
    if (!refusal.empty()) line_of(refusal);
    ImGui::End();
    return requests;
}

}  // namespace framewire::app
