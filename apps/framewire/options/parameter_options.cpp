// Declares options from parameter descriptions, so that the command line and configuration files share names, ranges,
// defaults and help.

#include "options/parameter_options.hpp"

#include "framewire/core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace framewire::app {
namespace {

using Type = ParameterInfo::Type;

// Returns the placeholder of a parameter's value.
std::string value_name(const ParameterInfo& parameter) {
    if (!parameter.choices.empty()) return fmt::format("{}", fmt::join(parameter.choices, "|"));
    if (!parameter.unit.empty()) return std::string(parameter.unit);
    switch (parameter.type) {
        case Type::integer: return "N";
        case Type::real: return "NUMBER";
        case Type::size: return "WxH";
        case Type::rate: return "FPS";
        default: return "TEXT";
    }
}

// Returns the help text, with the allowed values unless the placeholder already shows them.
std::string help_of(const ParameterInfo& parameter, std::string_view before) {
    const bool said = parameter.type == Type::text || !parameter.choices.empty();  // shown by the placeholder
    return fmt::format("{}{}{}", before, parameter.help, said ? "" : "; " + allowed_values(parameter));
}

// Declares an option that takes a value.
Option add_value(Command& command, const std::string& flag, const ParameterInfo& parameter, const TextTaker& take,
                 const ParameterOption& how) {
    auto option = command.option(flag, take, help_of(parameter, how.before));
    if (how.problem)
        option.check(how.problem);
    else
        option.check([&parameter](const std::string& text) {
            const auto problem = problem_with(parameter, text);
            return problem.empty() ? std::string()
                                   : fmt::format("{} {}; allowed: {}{}", in_quotes(text), problem,
                                                 allowed_values(parameter), did_you_mean(text, parameter.choices));
        });
    option.type_name(value_name(parameter));
    if (!parameter.default_value.empty()) option.shown_default(parameter.default_value);
    return option;
}

}  // namespace

// Flags become options without a value.
Option add_parameter(Command& command, const ParameterInfo& parameter, const TextTaker& take,
                     const ParameterOption& how) {
    const auto flag = how.flag.empty() ? fmt::format("--{}", parameter.name) : how.flag;
    auto option = parameter.type == Type::flag
                      ? command.flag(
                            flag, [take] { take("1"); }, fmt::format("{}{}", how.before, parameter.help))
                      : add_value(command, flag, parameter, take, how);
    if (how.needs) option.needs(*how.needs);
    return option;
}

Option add_parameter(Command& command, const ParameterInfo& parameter, ParameterValues& values,
                     const ParameterOption& how) {
    const auto take = [&parameter, &values](const std::string& text) { values.add(parameter.name, text); };
    return add_parameter(command, parameter, take, how);
}

}  // namespace framewire::app
