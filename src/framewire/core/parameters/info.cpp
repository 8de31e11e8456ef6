#include "framewire/core/parameters/info.hpp"

#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/core/text/nearest_name.hpp"
#include "framewire/core/time/frame_rate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

// Validation of parameter values and the phrases for messages. Values stay text; the typed getters convert them
// later.

namespace framewire {
namespace {

using Type = ParameterInfo::Type;

constexpr std::string_view out_of_range = "is out of range";

// Choices are compared as text.
bool is_choice(const ParameterInfo& parameter, std::string_view value) {
    return std::find(parameter.choices.begin(), parameter.choices.end(), value) != parameter.choices.end();
}

// The limits of whole numbers are below 2^53 or are powers of two up to 2^62, so a double holds them exactly.
bool is_within(const ParameterInfo& parameter, std::int64_t number) {
    return number >= static_cast<std::int64_t>(parameter.minimum) &&
           number <= static_cast<std::int64_t>(parameter.maximum);
}

// Each validator returns what is wrong with a text for one type, or an empty text.
std::string_view problem_with_integer(const ParameterInfo& parameter, std::string_view value) {
    std::int64_t number = 0;
    const auto status = read_number(value, number);
    if (status == std::errc::result_out_of_range) return out_of_range;
    if (status != std::errc{}) return "is no whole number";
    // Numbers are compared in canonical form, so "05" counts as "5".
    if (!parameter.choices.empty()) return is_choice(parameter, fmt::to_string(number)) ? "" : "is not allowed";
    if (!is_within(parameter, number)) return out_of_range;
    if (parameter.odd_only && number % 2 == 0) return "is even";
    return {};
}

// Returns true for digits with at most one point that has at least one digit before it and 1 to `most_decimals` behind
// it.
bool is_plain_decimal(std::string_view value, int most_decimals) {
    const auto point = std::min(value.find('.'), value.size());
    const auto decimals = value.size() - std::min(point + 1, value.size());
    if (point == 0 || (point < value.size() && decimals == 0)) return false;
    return decimals <= static_cast<std::size_t>(most_decimals) &&
           value.find_first_not_of("0123456789.") == value.npos && std::count(value.begin(), value.end(), '.') <= 1;
}

std::string_view problem_with_real(const ParameterInfo& parameter, std::string_view value) {
    double number = 0;
    const auto status = read_number(value, number);
    if (status == std::errc::result_out_of_range) return out_of_range;
    if (status != std::errc{} || !std::isfinite(number)) return "is no number";
    if (number < parameter.minimum || number > parameter.maximum) return out_of_range;
    if (parameter.above_minimum && number == parameter.minimum) return out_of_range;
    if (parameter.decimals >= 0 && !is_plain_decimal(value, parameter.decimals)) return "is not allowed";
    return {};
}

std::string_view problem_with_size(const ParameterInfo& parameter, std::string_view value) {
    const auto cross = value.find('x');
    if (cross == value.npos) return "is no size";
    for (const auto side : {value.substr(0, cross), value.substr(cross + 1)}) {
        std::int64_t pixels = 0;
        const auto status = read_number(side, pixels);
        if (status == std::errc::result_out_of_range) return out_of_range;
        if (status != std::errc{}) return "is no size";
        if (!is_within(parameter, pixels)) return out_of_range;
    }
    return {};
}

// Returns false for infinity and for limits from the largest float on, which stand for no limit.
bool is_limit(double number) { return std::abs(number) < std::numeric_limits<float>::max(); }

// A phrase for the range of a real: "a number above 0 up to 1 with up to 2 decimals".
std::string allowed_reals(const ParameterInfo& parameter) {
    std::string words = "a number";
    const bool from = is_limit(parameter.minimum), to = is_limit(parameter.maximum);
    if (from && parameter.above_minimum)
        words += fmt::format(" above {}{}", parameter.minimum, to ? fmt::format(" up to {}", parameter.maximum) : "");
    else if (from)
        words += fmt::format(" from {}{}", parameter.minimum, to ? fmt::format(" to {}", parameter.maximum) : " on");
    if (parameter.decimals >= 0) words += fmt::format(" with up to {} decimals", parameter.decimals);
    return words;
}

}  // namespace

std::string allowed_values(const ParameterInfo& parameter) {
    if (parameter.type == Type::text) return "any text";
    if (!parameter.choices.empty()) return fmt::format("one of {}", fmt::join(parameter.choices, ", "));
    switch (parameter.type) {
        case Type::real: return allowed_reals(parameter);
        case Type::flag: return "0 or 1";
        case Type::rate: return std::string(allowed_rates);
        case Type::size:
            return fmt::format("WIDTHxHEIGHT with sides of {:.0f} to {:.0f} pixels", parameter.minimum,
                               parameter.maximum);
        default: break;
    }
    return fmt::format("{} whole number from {:.0f} to {:.0f}", parameter.odd_only ? "an odd" : "a", parameter.minimum,
                       parameter.maximum);
}

std::string_view problem_with(const ParameterInfo& parameter, std::string_view value) {
    switch (parameter.type) {
        case Type::integer: return problem_with_integer(parameter, value);
        case Type::real: return problem_with_real(parameter, value);
        case Type::flag: return value == "0" || value == "1" ? "" : "is not allowed";
        case Type::choice: return is_choice(parameter, value) ? "" : "is not allowed";
        case Type::size: return problem_with_size(parameter, value);
        case Type::rate: return parse_rate(value) ? "" : "is no such rate";
        case Type::text: break;
    }
    return {};
}

// Used by the parser and by checks of values made in code, so that both give the same message.
std::string refusal_of(const ParameterInfo& parameter, std::string_view value) {
    const auto problem = problem_with(parameter, value);
    if (problem.empty()) return {};
    return fmt::format("{} {} {}; allowed is {}{}", parameter.name, in_quotes(value), problem,
                       allowed_values(parameter), did_you_mean(value, parameter.choices));
}

bool is_required(const ParameterInfo& parameter) {
    return parameter.default_value.empty() && parameter.type != Type::text && !parameter.repeatable &&
           !parameter.optional;
}

}  // namespace framewire
