#pragma once

#include "options/command_line.hpp"

#include "framewire/core/parameters/values.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace framewire::app {

/// How a parameter appears as an option.
struct ParameterOption {
    std::string flag{};             ///< "--NAME" when it is empty
    std::string_view before{};      ///< comes before its help: "with --people: "
    std::optional<Option> needs{};  ///< is refused without this one
};

/// Adds the option of a parameter to `command`: its help with what is allowed, its default, and its place in `values`,
/// to which what was given is appended, checked. Both live as long as the command line.
Option add_parameter(Command& command, const ParameterInfo& parameter, ParameterValues& values,
                     const ParameterOption& how = {});

}  // namespace framewire::app
