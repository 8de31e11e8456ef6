#pragma once

#include "framewire/core/parameters/values.hpp"

#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace framewire::app {

/// How a parameter appears as an option.
struct ParameterOption {
    std::string flag{};            ///< "--NAME" when it is empty
    std::string_view before{};     ///< comes before its help: "with --people: "
    CLI::Option* needs = nullptr;  ///< is refused without this one
};

/// Adds the option of a parameter to `command`: its help with what is allowed, its default, and its place in `values`,
/// to which what was given is appended, checked. Both live as long as `command`.
CLI::Option* add_parameter(CLI::App& command, const ParameterInfo& parameter, ParameterValues& values,
                           const ParameterOption& how = {});

}  // namespace framewire::app
