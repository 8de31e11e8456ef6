#include "commands.hpp"
#include "filter_page.hpp"

#include "framewire/core/error.hpp"
#include "framewire/pipeline/excerpt.hpp"
#include "framewire/pipeline/filter_registry.hpp"
#include "framewire/pipeline/nearest_name.hpp"
#include "framewire/pipeline/parameter_check.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace framewire::app {
namespace {

using Json = nlohmann::ordered_json;
using Type = ParameterInfo::Type;

std::string_view name_of(Type type) {
    switch (type) {
        case Type::integer: return "integer";
        case Type::real: return "real";
        case Type::choice: return "choice";
        case Type::text: break;
    }
    return "text";
}

// A value in its parameter's own type.
Json typed(Type type, std::string_view text) {
    if (type == Type::integer) return std::stoll(std::string(text));
    if (type == Type::real) return std::stod(std::string(text));
    return text;
}

Json describe(const ParameterInfo& parameter) {
    Json json{{"name", parameter.name}, {"help", parameter.help}, {"type", name_of(parameter.type)}};
    // null: must be given
    json["default"] = is_required(parameter) ? Json(nullptr) : typed(parameter.type, parameter.default_value);
    if (!parameter.choices.empty()) {
        for (const auto choice : parameter.choices) json["choices"].push_back(typed(parameter.type, choice));
    } else if (parameter.type == Type::integer) {
        json["minimum"] = static_cast<std::int64_t>(parameter.minimum);
        json["maximum"] = static_cast<std::int64_t>(parameter.maximum);
    } else if (parameter.type == Type::real) {
        json["minimum"] = parameter.minimum;
        json["maximum"] = parameter.maximum;
    }
    json["odd_only"] = parameter.odd_only;
    json["repeatable"] = parameter.repeatable;
    return json;
}

Json describe(const FilterInfo& filter) {
    auto parameters = Json::array();
    for (const auto& parameter : filter.parameters) parameters.push_back(describe(parameter));
    return {{"name", filter.name},
            {"summary", filter.summary},
            {"needs_previous", filter.needs_previous},
            {"examples", filter.examples},
            {"parameters", std::move(parameters)}};
}

void print(const FilterInfo& filter) {
    fmt::print("{}: {}\n", filter.name, filter.summary);
    for (const auto& parameter : filter.parameters) {
        std::string default_text = "must be given";
        if (!is_required(parameter))
            default_text =
                fmt::format("default {}", parameter.type == Type::text ? in_quotes(parameter.default_value)
                                                                       : std::string(parameter.default_value));
        fmt::print("    {:<12} {}\n    {:<12} {}; {}{}\n", parameter.name, parameter.help, "",
                   allowed_values(parameter), default_text, parameter.repeatable ? "; may be given several times" : "");
    }
    for (const auto example : filter.examples) fmt::print("    {:<12} -f \"{}\"\n", "for example", example);
}

enum class Form { words, json, markdown };

int list_filters(const std::string& name, Form form) {
    std::vector<const FilterInfo*> filters;
    std::vector<std::string_view> names;
    for (const auto& filter : filter_registry()) {
        names.push_back(filter.name);
        if (name.empty() || filter.name == name) filters.push_back(&filter);
    }
    if (filters.empty())
        fail(ErrorCode::usage, "no filter {}; filters are {}{}", in_quotes(name), fmt::join(names, ", "),
             did_you_mean(name, names));
    if (form == Form::json) {
        auto json = Json::array();
        for (const auto* filter : filters) json.push_back(describe(*filter));
        fmt::print("{}\n", json.dump(2));
    } else if (form == Form::markdown) {
        fmt::print("{}", name.empty() ? filter_index(filter_registry()) : filter_page(*filters.front()));
    } else {
        for (const auto* filter : filters) print(*filter);
    }
    return 0;
}

}  // namespace

void add_filters(CLI::App& program, Action& chosen) {
    struct Options {
        std::string name;
        bool json = false, markdown = false;
        Form form() const { return json ? Form::json : markdown ? Form::markdown : Form::words; }
    };
    auto* command = program.add_subcommand("filters", "Lists the filters with their parameters, ranges and defaults");
    const auto options = std::make_shared<Options>();
    command->add_option("name", options->name, "only this filter")->type_name("NAME");
    auto* json = command->add_flag("--json", options->json, "for machines");
    command->add_flag("--markdown", options->markdown, "the filter's page in docs/filters, or that of all")
        ->excludes(json);
    command->callback(
        [&chosen, options] { chosen = [options] { return list_filters(options->name, options->form()); }; });
}

}  // namespace framewire::app
