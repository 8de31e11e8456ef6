#include "framewire/pipeline/parameter_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace framewire {
namespace {

using Type = ParameterInfo::Type;

template <class Number>
std::errc read_whole(std::string_view text, Number& number) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    return status == std::errc{} && end != text.data() + text.size() ? std::errc::invalid_argument : status;
}

bool is_choice(const ParameterInfo& parameter, std::string_view value) {
    return std::find(parameter.choices.begin(), parameter.choices.end(), value) != parameter.choices.end();
}

// Whole numbers of a ParameterInfo stay far below 2^53: a double holds them exactly.
std::string_view problem_with_integer(const ParameterInfo& parameter, std::string_view value) {
    std::int64_t number = 0;
    const auto status = read_whole(value, number);
    if (status == std::errc::result_out_of_range) return "is out of range";
    if (status != std::errc{}) return "is no whole number";
    if (!parameter.choices.empty()) return is_choice(parameter, fmt::to_string(number)) ? "" : "is not allowed";
    const auto as_real = static_cast<double>(number);
    if (as_real < parameter.minimum || as_real > parameter.maximum) return "is out of range";
    if (parameter.odd_only && number % 2 == 0) return "is even";
    return {};
}

std::string_view problem_with_real(const ParameterInfo& parameter, std::string_view value) {
    double number = 0;
    const auto status = read_whole(value, number);
    if (status == std::errc::result_out_of_range) return "is out of range";
    if (status != std::errc{} || !std::isfinite(number)) return "is no number";
    if (number < parameter.minimum || number > parameter.maximum) return "is out of range";
    return {};
}

}  // namespace

std::string allowed_values(const ParameterInfo& parameter) {
    if (parameter.type == Type::text) return "any text";
    if (!parameter.choices.empty()) return fmt::format("one of {}", fmt::join(parameter.choices, ", "));
    if (parameter.type == Type::real)
        return fmt::format("a number from {} to {}", parameter.minimum, parameter.maximum);
    return fmt::format("{} whole number from {:.0f} to {:.0f}", parameter.odd_only ? "an odd" : "a", parameter.minimum,
                       parameter.maximum);
}

std::string_view problem_with(const ParameterInfo& parameter, std::string_view value) {
    switch (parameter.type) {
        case Type::integer: return problem_with_integer(parameter, value);
        case Type::real: return problem_with_real(parameter, value);
        case Type::choice: return is_choice(parameter, value) ? "" : "is not allowed";
        case Type::text: break;
    }
    return {};
}

bool is_required(const ParameterInfo& parameter) {
    return parameter.default_value.empty() && parameter.type != Type::text && !parameter.repeatable;
}

}  // namespace framewire
