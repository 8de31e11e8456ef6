#include "view/screen/keys.hpp"

namespace framewire::app {

std::span<const KeyLine> key_lines() {
    using enum KeyAction;
    using For = KeyLine::For;
    constexpr auto played = For::played, several = For::several;
    static const std::vector<KeyLine> lines{
        {"space p", "pause, resume", played, {{" ", pause}, {"p", pause}}},
        {". ,", "next frame, previous frame", played, {{".", step}, {",", step_back}}},
        {"left right", "5 seconds back, forward", played, {{"Left", back}, {"Right", on}}},
        {"down up", "a minute back, forward", played, {{"Down", far_back}, {"Up", far_on}}},
        {"Home", "to the start", played, {{"Home", to_start}}},
        {"[ ]", "slower, faster", played, {{"[", slower}, {"]", faster}}},
        {"Backspace", "the source's normal speed", played, {{"Backspace", own_speed}}},
        {"c", "compare: side by side, split, off", played, {{"c", compare}}},
        {"1 to 9",
         "enlarge one camera (also by a click)",
         several,
         {{"1", one_large},
          {"2", one_large},
          {"3", one_large},
          {"4", one_large},
          {"5", one_large},
          {"6", one_large},
          {"7", one_large},
          {"8", one_large},
          {"9", one_large}}},
        {"Enter", "enlarge the camera under the mouse", several, {{"Enter", this_large}}},
        {"0", "all cameras", several, {{"0", all}}},
        {"i", "figures", For::all, {{"i", figures}}},
        {"a", "adjust the picture, toggle filters", For::all, {{"a", panel}}},
        {"Tab", "hide all overlays", For::all, {{"Tab", hide}}},
        {"s", "save the pictures", For::all, {{"s", save}}},
        {"r", "start or stop recording the view", For::all, {{"r", record}}},
        {"n", "nearest or smooth scaling", For::all, {{"n", sharp}}},
        {"f", "full screen", For::all, {{"f", full_screen}}},
        {"?", "this help", For::all, {{"?", help}}},
        {"Esc", "back; quit at the top level", For::all, {{"Escape", leave}}},
        {"q", "end", For::all, {{"q", end}}},
    };
    return lines;
}

std::optional<KeyAction> action_of(std::string_view key) {
    for (const auto& line : key_lines())
        for (const auto& binding : line.bindings)
            if (binding.key == key) return binding.action;
    return std::nullopt;
}

}  // namespace framewire::app
