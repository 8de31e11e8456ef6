#pragma once

#include "command_line/command_line.hpp"

#include "framewire/core/parameters.hpp"
#include "framewire/jobs/configuration.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::app {

/// How a parameter is declared as an option.
struct ParameterOption {
    std::string flag{};             ///< name of the option; empty: "--NAME"
    std::string_view before{};      ///< prefix of the help text: "with --people: "
    std::optional<Option> needs{};  ///< option that must be given too
    /// Optional. Returns an error message for a text, or an empty string. Default: the check of the parameter.
    std::function<std::string(const std::string&)> problem{};
};

/// Function that receives the text of an option.
using TextTaker = std::function<void(const std::string& text)>;

/// Adds the option for a parameter. Its help shows the allowed values and the default. `take` is called with each text
/// that passed the check. The parameter must live as long as the command line.
Option add_parameter(Command& command, const ParameterInfo& parameter, const TextTaker& take,
                     const ParameterOption& how = {});

/// Adds the option for a parameter and appends the given values to `values`. Both must live as long as the command
/// line.
Option add_parameter(Command& command, const ParameterInfo& parameter, ParameterValues& values,
                     const ParameterOption& how = {});

/// Returns a ParameterOption with the checks of a setting, which must live as long as the command line.
template <class Target>
ParameterOption how_to_read(const jobs::Setting<Target>& setting) {
    ParameterOption how;
    if (setting.more_problems) how.problem = [&setting](const std::string& text) { return setting.problem(text); };
    return how;
}

/// Adds the option for a setting of `target`; both must live as long as the command line.
template <class Target>
Option add_setting(Command& command, const jobs::Setting<Target>& setting, Target& target) {
    return add_parameter(
        command, setting.info, [&setting, &target](const std::string& text) { setting.set(target, text); },
        how_to_read(setting));
}

}  // namespace framewire::app
