#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace framewire::app {

/// What keys do.
enum class KeyAction {
    pause,
    step,
    step_back,
    back,
    on,
    far_back,
    far_on,
    to_start,
    slower,
    faster,
    own_speed,
    compare,
    one_large,
    this_large,
    all,
    figures,
    panel,
    hide,
    save,
    record,
    sharp,
    full_screen,
    help,
    leave,
    end,
};

/// A key and what it does.
struct KeyBinding {
    std::string_view key;  ///< as Window::take_keys() has it
    KeyAction action{};
};

/// A line of the help: keys of a kind.
struct KeyLine {
    std::string_view shown, help;
    /// What there has to be for it to mean something.
    enum class For { all, played, several } for_what = For::all;
    std::vector<KeyBinding> bindings;
};

/// All keys of the window, wherever its pictures come from: the one place that names them.
std::span<const KeyLine> key_lines();
/// What a key does; none: nothing.
std::optional<KeyAction> action_of(std::string_view key);

}  // namespace framewire::app
