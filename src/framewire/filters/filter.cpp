#include "framewire/filters/filter.hpp"

#include <charconv>

namespace framewire {
namespace {

template <class Number>
Number read_number(std::string_view name, std::string_view text) {
    Number number{};
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc{} || end != text.data() + text.size())
        fail(ErrorCode::internal, "parameter {} holds '{}', which was not checked", name, text);
    return number;
}

}  // namespace

const std::string& ParameterValues::text(std::string_view name) const {
    for (const auto& [key, value] : values_)
        if (key == name) return value;
    fail(ErrorCode::internal, "no parameter {}", name);
}

bool ParameterValues::has(std::string_view name) const {
    for (const auto& [key, value] : values_)
        if (key == name) return true;
    return false;
}

std::int64_t ParameterValues::integer(std::string_view name) const {
    return read_number<std::int64_t>(name, text(name));
}
double ParameterValues::real(std::string_view name) const { return read_number<double>(name, text(name)); }

std::vector<std::string> ParameterValues::texts(std::string_view name) const {
    std::vector<std::string> found;
    for (const auto& [key, value] : values_)
        if (key == name) found.push_back(value);
    return found;
}

ParameterValues with_defaults(const FilterInfo& info,
                              std::initializer_list<std::pair<std::string, std::string>> given) {
    ParameterValues values;
    for (const auto& [name, value] : given) values.add(name, value);
    for (const auto& parameter : info.parameters)
        if (!parameter.repeatable && !values.has(parameter.name))
            values.add(std::string(parameter.name), std::string(parameter.default_value));
    return values;
}

}  // namespace framewire
