#include "commands/listing/parameter_page.hpp"
#include "commands/json.hpp"

#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/text/excerpt.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>

namespace framewire::app {
namespace {

using Type = ParameterInfo::Type;

std::string_view name_of(Type type) {
    switch (type) {
        case Type::integer: return "integer";
        case Type::real: return "real";
        case Type::flag: return "flag";
        case Type::choice: return "choice";
        case Type::size: return "size";
        case Type::rate: return "rate";
        case Type::text: break;
    }
    return "text";
}

// A value in its parameter's own type.
Json typed(Type type, std::string_view text) {
    if (type == Type::integer) return number_in<std::int64_t>(text).value();
    if (type == Type::real) return number_in<double>(text).value();
    if (type == Type::flag) return text == "1";
    return text;
}

bool has_default(const ParameterInfo& parameter) { return !is_required(parameter) && !parameter.optional; }

// A limit; JSON has no infinity.
Json limit(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }

Json describe(const ParameterInfo& parameter) {
    Json json{{"name", parameter.name}, {"help", parameter.help}, {"type", name_of(parameter.type)}};
    json.add("required", is_required(parameter));
    json.add("default", has_default(parameter) ? typed(parameter.type, parameter.default_value) : Json(nullptr));
    if (!parameter.choices.empty()) {
        auto choices = Json::array();
        for (const auto choice : parameter.choices) choices.push_back(typed(parameter.type, choice));
        json.add("choices", choices);
    } else if (parameter.type == Type::integer || parameter.type == Type::size) {
        json.add("minimum", static_cast<std::int64_t>(parameter.minimum));
        json.add("maximum", static_cast<std::int64_t>(parameter.maximum));
    } else if (parameter.type == Type::real) {
        json.add("minimum", limit(parameter.minimum));
        json.add("maximum", limit(parameter.maximum));
    }
    json.add("allowed", allowed_values(parameter));
    json.add("odd_only", parameter.odd_only);
    json.add("repeatable", parameter.repeatable);
    return json;
}

std::string default_in_words(const ParameterInfo& parameter) {
    if (is_required(parameter)) return "must be given";
    if (parameter.optional) return "may be left out";
    return fmt::format("default {}",
                       parameter.type == Type::text ? in_quotes(parameter.default_value) : parameter.default_value);
}

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

Json parameter_json(std::span<const ParameterInfo> parameters) {
    auto json = Json::array();
    for (const auto& parameter : parameters) json.push_back(describe(parameter));
    return json;
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
