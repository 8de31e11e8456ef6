#pragma once

#include "command_line/command_line.hpp"

#include "framewire/core/parameters/values.hpp"
#include "framewire/session/config/settings.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::app {

/// How a parameter appears as an option.
struct ParameterOption {
    std::string flag{};             ///< "--NAME" when it is empty
    std::string_view before{};      ///< comes before its help: "with --people: "
    std::optional<Option> needs{};  ///< is refused without this one
    /// What is wrong with a text; empty: nothing. None: what the parameter says.
    std::function<std::string(const std::string&)> problem{};
};

using TextTaker = std::function<void(const std::string& text)>;

/// Adds the option of a parameter to `command`: its help with what is allowed, and its default. `take` gets each text
/// that was given, checked. The parameter lives as long as the command line.
Option add_parameter(Command& command, const ParameterInfo& parameter, const TextTaker& take,
                     const ParameterOption& how = {});

/// The same with its place in `values`, to which what was given is appended. They live as long as the command line.
Option add_parameter(Command& command, const ParameterInfo& parameter, ParameterValues& values,
                     const ParameterOption& how = {});

/// A setting lives as long as the command line.
template <class Target>
ParameterOption how_to_read(const session::Setting<Target>& setting) {
    ParameterOption how;
    if (setting.more_problems) how.problem = [&setting](const std::string& text) { return setting.problem(text); };
    return how;
}

/// Adds the option of a setting of `target`, which lives as long as the command line.
template <class Target>
Option add_setting(Command& command, const session::Setting<Target>& setting, Target& target) {
    return add_parameter(
        command, setting.info, [&setting, &target](const std::string& text) { setting.set(target, text); },
        how_to_read(setting));
}

}  // namespace framewire::app
