#include "view/panels/panels.hpp"
#include "view/shown_text.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace framewire::app {
namespace {

constexpr float inset_px = 8;

}  // namespace

void draw_caption(const Area& area, Corner corner, Tone tone, std::string_view text) {
    const auto words = shown_text(text);
    const ImVec2 padding{8, 4};
    const float widest = std::max(20.0F, area.width - 2 * inset_px - 2 * padding.x);
    const auto size = ImGui::CalcTextSize(words.data(), words.data() + words.size(), false, widest);
    const float width = size.x + 2 * padding.x, height = size.y + 2 * padding.y;
    ImVec2 at{area.x + inset_px, area.y + inset_px};
    if (corner == Corner::lower_right) at.x = area.x + area.width - inset_px - width;
    if (corner == Corner::lower_left || corner == Corner::lower_right) at.y = area.y + area.height - inset_px - height;
    if (corner == Corner::middle)
        at = {area.x + std::floor((area.width - width) / 2), area.y + std::floor((area.height - height) / 2)};
    const bool is_red = tone != Tone::quiet;
    const ImU32 ground = is_red ? IM_COL32(168, 36, 36, 235) : IM_COL32(18, 20, 26, 205);
    auto& list = *ImGui::GetBackgroundDrawList();
    // The caption is clipped to the area, which may be small.
    list.PushClipRect({area.x, area.y}, {area.x + area.width, area.y + area.height}, true);
    list.AddRectFilled(at, {at.x + width, at.y + height}, ground, 5);
    list.AddText(nullptr, 0, {at.x + padding.x, at.y + padding.y}, IM_COL32(235, 237, 240, 255), words.data(),
                 words.data() + words.size(), widest);
    list.PopClipRect();
}

void draw_frame(const Area& area) {
    ImGui::GetBackgroundDrawList()->AddRect({area.x, area.y}, {area.x + area.width, area.y + area.height},
                                            IM_COL32(92, 153, 219, 230), 0, 0, 2);
}

}  // namespace framewire::app
