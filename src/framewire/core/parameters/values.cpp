#include "framewire/core/parameters/values.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/time/frame_rate.hpp"

// Values are kept as text in the order given. Lists are short, so lookups are linear. Every getter converts
// again; a value that does not convert was never validated, which is a bug and not a user's error.

namespace framewire {
namespace {

[[noreturn]] void fail_unchecked(std::string_view name, std::string_view text) {
    fail(ErrorCode::internal, "parameter {} holds '{}', which was not checked", name, text);
}

template <class Number>
Number checked_number(std::string_view name, std::string_view text) {
    const auto number = number_in<Number>(text);
    if (!number) fail_unchecked(name, text);
    return *number;
}

}  // namespace

// Returns the first value of a parameter, or null.
const ParameterValues::Value* ParameterValues::find(std::string_view name) const {
    for (const auto& value : values_)
        if (value.name == name) return &value;
    return nullptr;
}

const std::string& ParameterValues::text(std::string_view name) const {
    if (const auto* value = find(name)) return value->text;
    fail(ErrorCode::internal, "no parameter {}", name);
}

bool ParameterValues::has(std::string_view name) const { return find(name) != nullptr; }

bool ParameterValues::is_given(std::string_view name) const {
    const auto* value = find(name);
    return value && value->given;
}

std::int64_t ParameterValues::integer(std::string_view name) const {
    return checked_number<std::int64_t>(name, text(name));
}

double ParameterValues::real(std::string_view name) const { return checked_number<double>(name, text(name)); }

bool ParameterValues::flag(std::string_view name) const { return integer(name) != 0; }

std::pair<int, int> ParameterValues::size(std::string_view name) const {
    const std::string_view sides = text(name);
    // Sizes are WIDTHxHEIGHT.
    const auto cross = sides.find('x');
    if (cross == sides.npos) fail_unchecked(name, sides);
    return {checked_number<int>(name, sides.substr(0, cross)), checked_number<int>(name, sides.substr(cross + 1))};
}

Rational ParameterValues::rate(std::string_view name) const {
    const auto rate = parse_rate(text(name));
    if (!rate) fail_unchecked(name, text(name));
    return *rate;
}

std::vector<std::string> ParameterValues::texts(std::string_view name) const {
    std::vector<std::string> found;
    for (const auto& value : values_)
        if (value.name == name) found.push_back(value.text);
    return found;
}

void ParameterValues::add_defaults(std::span<const ParameterInfo> parameters) {
    for (const auto& parameter : parameters) {
        // An empty text is a valid default, except for optional and repeatable parameters.
        const bool has_default = !parameter.default_value.empty() || (!parameter.repeatable && !parameter.optional);
        if (has_default && !has(parameter.name))
            values_.push_back({std::string(parameter.name), parameter.default_value, false});
    }
}

// For callers that build values in code.
ParameterValues with_defaults(std::span<const ParameterInfo> parameters,
                              std::initializer_list<std::pair<std::string, std::string>> given) {
    ParameterValues values;
    for (const auto& [name, value] : given) values.add(name, value);
    values.add_defaults(parameters);
    return values;
}

}  // namespace framewire
