#include "view/screen/keys.hpp"

namespace framewire::app {

std::span<const KeyLine> key_lines() {
    using enum KeyAction;
    using For = KeyLine::For;
    constexpr auto played = For::played, several = For::several;
    static const std::vector<KeyLine> lines{
        {"space p", "pause, go on", played, {{" ", pause}, {"p", pause}}},
        {". ,", "a frame on, a frame back", played, {{".", step}, {",", step_back}}},
        {"left right", "5 seconds back, on", played, {{"Left", back}, {"Right", on}}},
        {"down up", "a minute back, on", played, {{"Down", far_back}, {"Up", far_on}}},
        {"Home", "to the start", played, {{"Home", to_start}}},
        {"[ ]", "slower, faster", played, {{"[", slower}, {"]", faster}}},
        {"Backspace", "the source's own speed", played, {{"Backspace", own_speed}}},
        {"c", "compare: side by side, split, not", played, {{"c", compare}}},
        {"1 to 9",
         "one camera large, as a click does",
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
        {"Enter", "the camera under the mouse large", several, {{"Enter", this_large}}},
        {"0", "all cameras", several, {{"0", all}}},
        {"i", "figures", For::all, {{"i", figures}}},
        {"a", "adjust the picture, filters on and off", For::all, {{"a", panel}}},
        {"Tab", "hide all that lies over pictures", For::all, {{"Tab", hide}}},
        {"s", "save the pictures", For::all, {{"s", save}}},
        {"r", "record what is seen, stop", For::all, {{"r", record}}},
        {"n", "enlarge sharp or smooth", For::all, {{"n", sharp}}},
        {"f", "full screen", For::all, {{"f", full_screen}}},
        {"?", "this help", For::all, {{"?", help}}},
        {"Esc", "back; at last the end", For::all, {{"Escape", leave}}},
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
