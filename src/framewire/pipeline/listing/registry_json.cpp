#include "framewire/pipeline/listing/registry_json.hpp"

#include "framewire/core/parameters/numbers.hpp"
#include "framewire/pipeline/chain/filter_registry.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>

namespace framewire {
namespace {

using ListedJson = nlohmann::ordered_json;
using ParameterType = ParameterInfo::Type;

// Names of the types in JSON.
std::string_view name_of(ParameterType type) {
    switch (type) {
        case ParameterType::integer: return "integer";
        case ParameterType::real: return "real";
        case ParameterType::flag: return "flag";
        case ParameterType::choice: return "choice";
        case ParameterType::size: return "size";
        case ParameterType::rate: return "rate";
        case ParameterType::text: break;
    }
    return "text";
}

// Converts a value to the JSON type of its parameter.
ListedJson typed(ParameterType type, std::string_view text) {
    if (type == ParameterType::integer) return number_in<std::int64_t>(text).value();
    if (type == ParameterType::real) return number_in<double>(text).value();
    if (type == ParameterType::flag) return text == "1";
    return text;
}

// A limit, or null for infinity, which JSON does not have.
ListedJson limit(double number) { return std::isfinite(number) ? ListedJson(number) : ListedJson(nullptr); }

// Returns one parameter as a JSON object.
ListedJson listed(const ParameterInfo& parameter) {
    // Optional parameters have no default, and required ones need a value.
    const bool has_default = !is_required(parameter) && !parameter.optional;
    ListedJson json{{"name", parameter.name}, {"help", parameter.help}, {"type", name_of(parameter.type)}};
    json["required"] = is_required(parameter);
    json["default"] = has_default ? typed(parameter.type, parameter.default_value) : ListedJson(nullptr);
    if (!parameter.choices.empty()) {
        for (const auto choice : parameter.choices) json["choices"].push_back(typed(parameter.type, choice));
    } else if (parameter.type == ParameterType::integer || parameter.type == ParameterType::size) {
        json["minimum"] = static_cast<std::int64_t>(parameter.minimum);
        json["maximum"] = static_cast<std::int64_t>(parameter.maximum);
    } else if (parameter.type == ParameterType::real) {
        json["minimum"] = limit(parameter.minimum);
        json["maximum"] = limit(parameter.maximum);
    }
    json["allowed"] = allowed_values(parameter);
    json["odd_only"] = parameter.odd_only;
    json["repeatable"] = parameter.repeatable;
    return json;
}

ListedJson listed(std::span<const ParameterInfo> parameters) {
    auto json = ListedJson::array();
    for (const auto& parameter : parameters) json.push_back(listed(parameter));
    return json;
}

ListedJson listed(const FilterInfo& filter) {
    return {{"name", filter.name},
            {"summary", filter.summary},
            {"needs_previous", filter.needs_previous},
            {"examples", filter.examples},
            {"parameters", listed(std::span<const ParameterInfo>(filter.parameters))}};
}

}  // namespace

std::string to_json(std::span<const ParameterInfo> parameters) { return listed(parameters).dump(); }
std::string to_json(const FilterInfo& filter) { return listed(filter).dump(); }

std::string filters_json() {
    auto json = ListedJson::array();
    for (const auto& filter : filter_registry()) json.push_back(listed(filter));
    return json.dump();
}

}  // namespace framewire
