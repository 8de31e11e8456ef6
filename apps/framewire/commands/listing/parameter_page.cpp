#include "commands/listing/parameter_page.hpp"

#include "framewire/core/text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace framewire::app {
namespace {

using Type = ParameterInfo::Type;

bool has_default(const ParameterInfo& parameter) { return !is_required(parameter) && !parameter.optional; }

// Returns the default as text.
std::string default_in_words(const ParameterInfo& parameter) {
    if (is_required(parameter)) return "required";
    if (parameter.optional) return "optional";
    return fmt::format("default {}",
                       parameter.type == Type::text ? in_quotes(parameter.default_value) : parameter.default_value);
}

// Returns the default as Markdown.
std::string default_in_table(const ParameterInfo& parameter) {
    if (!has_default(parameter)) return default_in_words(parameter);
    return parameter.default_value.empty() ? "empty" : fmt::format("`{}`", parameter.default_value);
}

std::string_view how_often(const ParameterInfo& parameter) {
    return parameter.repeatable ? "; may be given several times" : "";
}

}  // namespace

std::string parameter_lines(std::span<const ParameterInfo> parameters) {
    std::string lines;
    for (const auto& parameter : parameters)
        fmt::format_to(std::back_inserter(lines), "    {:<12} {}\n    {:<12} {}; {}{}\n", parameter.name,
                       parameter.help, "", allowed_values(parameter), default_in_words(parameter),
                       how_often(parameter));
    return lines;
}

std::string parameter_table(std::span<const ParameterInfo> parameters) {
    std::string table = "| parameter | | allowed | default |\n|---|---|---|---|\n";
    for (const auto& parameter : parameters)
        fmt::format_to(std::back_inserter(table), "| `{}` | {} | {}{} | {} |\n", parameter.name,
                       table_cell(parameter.help), table_cell(allowed_values(parameter)), how_often(parameter),
                       default_in_table(parameter));
    return table;
}

std::string table_cell(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        if (letter == '|') result += '\\';
        result += letter;
    }
    return result;
}

}  // namespace framewire::app
