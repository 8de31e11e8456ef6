#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace framewire::app {

/// Actions that keys trigger.
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

/// A key and its action.
struct KeyBinding {
    std::string_view key;  ///< name of the key, as returned by Window::take_keys()
    KeyAction action{};
};

/// A line of the help, which lists related keys.
struct KeyLine {
    std::string_view shown, help;
    /// Condition under which the keys are available.
    enum class For { all, played, several } for_what = For::all;
    std::vector<KeyBinding> bindings;
};

/// Returns all keys of the window for every kind of camera. This is the only table of keys.
std::span<const KeyLine> key_lines();
/// Returns the action of a key; nullopt if it has none.
std::optional<KeyAction> action_of(std::string_view key);

}  // namespace framewire::app
