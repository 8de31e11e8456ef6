#include "framewire/core/parameters.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace framewire {
namespace {

// Returns the number at the start of `text` times the factor of the unit that follows it, if the unit is known and the
// product is between `least` and `most`.
std::optional<double> amount_of(std::string_view text, std::initializer_list<std::pair<std::string_view, double>> units,
                                double least, double most) {
    double number = 0;
    if (take_number(text, number) != std::errc{}) return std::nullopt;
    for (const auto& [unit, factor] : units) {
        if (unit != text) continue;
        number *= factor;
        return number >= least && number <= most ? std::optional(number) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::optional<double> seconds_of(std::string_view text) {
    constexpr double day = 24 * 3600;
    return amount_of(text, {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", day}, {"w", 7 * day}}, 1e-3, 3660 * day);
}

std::optional<double> bytes_of(std::string_view text) {
    return amount_of(text, {{"B", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}, 1, 1e18);
}

std::optional<double> bits_per_second_of(std::string_view text) {
    return amount_of(text, {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}}, 1e3, 1e12);
}

}  // namespace framewire

// Validation of parameter values and the phrases for messages. Values stay text; the typed getters convert them
// later.

namespace framewire {
namespace {

using Type = ParameterInfo::Type;

constexpr std::string_view out_of_range = "is out of range";

// Returns true if `value` is one of the choices, compared as text.
bool is_choice(const ParameterInfo& parameter, std::string_view value) {
    return std::find(parameter.choices.begin(), parameter.choices.end(), value) != parameter.choices.end();
}

// Compares in integers: the limits are below 2^53 or are powers of two up to 2^62, so a double holds them exactly.
bool is_within(const ParameterInfo& parameter, std::int64_t number) {
    return number >= static_cast<std::int64_t>(parameter.minimum) &&
           number <= static_cast<std::int64_t>(parameter.maximum);
}

// Each validator returns what is wrong with a text for one type, or an empty text.
std::string_view problem_with_integer(const ParameterInfo& parameter, std::string_view value) {
    std::int64_t number = 0;
    const auto status = read_number(value, number);
    if (status == std::errc::result_out_of_range) return out_of_range;
    if (status != std::errc{}) return "is not a whole number";
    // Numbers are compared in canonical form, so "05" counts as "5".
    if (!parameter.choices.empty()) return is_choice(parameter, fmt::to_string(number)) ? "" : "is not allowed";
    if (!is_within(parameter, number)) return out_of_range;
    if (parameter.odd_only && number % 2 == 0) return "is even";
    return {};
}

// Returns true for digits with at most one point that has at least one digit before it and 1 to `most_decimals` after
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
    if (status != std::errc{} || !std::isfinite(number)) return "is not a number";
    if (number < parameter.minimum || number > parameter.maximum) return out_of_range;
    if (parameter.above_minimum && number == parameter.minimum) return out_of_range;
    if (parameter.decimals >= 0 && !is_plain_decimal(value, parameter.decimals)) return "is not allowed";
    return {};
}

std::string_view problem_with_size(const ParameterInfo& parameter, std::string_view value) {
    const auto cross = value.find('x');
    if (cross == value.npos) return "is not a size";
    for (const auto side : {value.substr(0, cross), value.substr(cross + 1)}) {
        std::int64_t pixels = 0;
        const auto status = read_number(side, pixels);
        if (status == std::errc::result_out_of_range) return out_of_range;
        if (status != std::errc{}) return "is not a size";
        if (!is_within(parameter, pixels)) return out_of_range;
    }
    return {};
}

// Returns false for infinity and for numbers from the largest float on, which mean that there is no limit.
bool is_limit(double number) { return std::abs(number) < std::numeric_limits<float>::max(); }

// Returns a phrase for the range of a real: "a number above 0 and at most 1 with up to 2 decimals".
std::string allowed_reals(const ParameterInfo& parameter) {
    std::string words = "a number";
    const bool from = is_limit(parameter.minimum), to = is_limit(parameter.maximum);
    if (from && parameter.above_minimum)
        words +=
            fmt::format(" above {}{}", parameter.minimum, to ? fmt::format(" and at most {}", parameter.maximum) : "");
    else if (from)
        words += to ? fmt::format(" from {} to {}", parameter.minimum, parameter.maximum)
                    : fmt::format(" of at least {}", parameter.minimum);
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
        case Type::rate: return parse_rate(value) ? "" : "is not a valid rate";
        case Type::text: break;
    }
    return {};
}

// Used by the parser and by checks of values made in code, so that both give the same message.
std::string refusal_of(const ParameterInfo& parameter, std::string_view value) {
    const auto problem = problem_with(parameter, value);
    if (problem.empty()) return {};
    return fmt::format("{} {} {}; allowed: {}{}", parameter.name, in_quotes(value), problem, allowed_values(parameter),
                       did_you_mean(value, parameter.choices));
}

bool is_required(const ParameterInfo& parameter) {
    return parameter.default_value.empty() && parameter.type != Type::text && !parameter.repeatable &&
           !parameter.optional;
}

}  // namespace framewire

// Grammar of a parameter list, where `end` are the delimiters of the surrounding text:
//
//     list      = parameter { ":" parameter }
//     parameter = [ key "=" ] value
//     value     = { "'" any "'" | "\" character | character other than ":" and `end` }
//
// A value without a key is allowed only at the start, for the first parameters of the owner.

namespace framewire {
namespace {

constexpr std::string_view spaces = " \t\r\n";

bool is_key_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::vector<std::string_view> names(std::span<const ParameterInfo> parameters) {
    std::vector<std::string_view> all;
    for (const auto& parameter : parameters) all.push_back(parameter.name);
    return all;
}

// Reads one parameter list. It looks at each byte a bounded number of times, so the time is linear in the text.
class Reader {
public:
    Reader(std::string_view text, std::size_t& at, const ParameterSyntax& syntax, const ParameterFailure& fail)
        : text_(text), at_(at), syntax_(syntax), fail_(fail), given_(syntax.parameters.size()) {}

    ParameterValues read(bool main_first) {
        // Values without keys come first; each belongs to the next parameter.
        std::size_t unnamed = main_first ? std::min(syntax_.unnamed, syntax_.parameters.size()) : 0;
        std::size_t next = 0;
        do {
            if (read_one(next < unnamed ? std::optional(next) : std::nullopt)) unnamed = 0;
            ++next;
        } while (take(':'));
        return std::move(values_);
    }

private:
    struct Value {
        std::string text;
        std::size_t offset = 0;
    };

    // Reads one parameter. Returns true if it has a key; one without a key belongs to parameter `unnamed`.
    bool read_one(std::optional<std::size_t> unnamed) {
        skip_spaces();
        const auto offset = at_;
        if (syntax_.parameters.empty()) fail_at(offset, fmt::format("{} takes no parameters", syntax_.who));
        const auto key = read_key();
        if (key.empty() && !unnamed) fail_without_key(offset);
        const auto index = key.empty() ? *unnamed : find(key, offset);
        const auto& parameter = syntax_.parameters[index];
        if (given_[index] && !parameter.repeatable)
            fail_at(offset, fmt::format("{}: '{}' is given twice", syntax_.who, parameter.name));
        given_[index] = true;

        auto value = read_value(parameter);
        if (const auto refusal = refusal_of(parameter, value.text); !refusal.empty())
            fail_at(value.offset, fmt::format("{}: {}{}", syntax_.who, refusal,
                                              key.empty() ? key_that_takes(value.text, &parameter) : ""));
        values_.add(parameter.name, std::move(value.text));
        return !key.empty();
    }

    // Returns a hint for a message if `word`, given without a key, is a choice of another parameter, such as
    // 'overlay' of the filter noise, and else an empty text.
    std::string key_that_takes(std::string_view word, const ParameterInfo* not_this) const {
        for (const auto& parameter : syntax_.parameters)
            if (&parameter != not_this && std::ranges::find(parameter.choices, word) != parameter.choices.end())
                return fmt::format("; did you mean '{}={}'?", parameter.name, word);
        return {};
    }

    // Reports a value without a key. The message depends on how many values the owner allows without keys.
    [[noreturn]] void fail_without_key(std::size_t offset) {
        const auto part = text_.substr(at_, text_.find_first_of(":" + std::string(syntax_.end), at_) - at_);
        const auto all = fmt::format("{}", fmt::join(names(syntax_.parameters), ", "));
        if (!syntax_.main_behind.empty() && syntax_.unnamed > 1)
            fail_at(offset, fmt::format("{}: only the first {} values after '{}' may omit their keys, and none after a "
                                        "value with a key; keys: {}",
                                        syntax_.who, syntax_.unnamed, syntax_.main_behind, all));
        if (!syntax_.main_behind.empty())
            fail_at(offset, fmt::format("{}: only the first value after '{}' may omit its key; keys: {}{}", syntax_.who,
                                        syntax_.main_behind, all, key_that_takes(part, nullptr)));
        fail_at(offset, fmt::format("{}: {} is not key=value; keys: {}{}", syntax_.who, in_quotes(part), all,
                                    did_you_mean(part, names(syntax_.parameters))));
    }

    // Returns the index of the parameter called `key`; an unknown key is an error with a suggestion.
    std::size_t find(std::string_view key, std::size_t offset) const {
        const auto& parameters = syntax_.parameters;
        const auto found =
            std::find_if(parameters.begin(), parameters.end(), [&](const auto& one) { return one.name == key; });
        if (found == parameters.end())
            fail_at(offset, fmt::format("{} has no parameter {}; its parameters: {}{}", syntax_.who, in_quotes(key),
                                        fmt::join(names(parameters), ", "), did_you_mean(key, names(parameters))));
        return static_cast<std::size_t>(found - parameters.begin());
    }

    // Reads a key and the '=' after it. Returns an empty text and reads nothing if a value starts here.
    std::string_view read_key() {
        auto end = at_;
        while (end < text_.size() && is_key_character(text_[end])) ++end;
        const auto equals = std::min(text_.find_first_not_of(spaces, end), text_.size());
        if (end == at_ || equals == text_.size() || text_[equals] != '=') return {};
        const auto key = text_.substr(at_, end - at_);
        at_ = equals + 1;
        return key;
    }

    // Reads up to the next separator that is neither quoted nor escaped. Spaces at both ends are removed unless they
    // are quoted or escaped.
    Value read_value(const ParameterInfo& parameter) {
        skip_spaces();
        Value value{{}, at_};
        std::size_t kept = 0;  // length up to the last character that is not a plain space
        bool any = false;
        while (!at_end()) {
            const auto offset = at_;
            const char c = text_[at_++];
            if (c == '\'') {
                const auto close = text_.find('\'', at_);
                if (close == text_.npos) fail_at(offset, fmt::format("{}: unterminated quote", syntax_.who));
                value.text += text_.substr(at_, close - at_);
                at_ = close + 1;
            } else if (c == '\\') {
                if (at_ == text_.size()) fail_at(offset, fmt::format("{}: trailing backslash", syntax_.who));
                value.text += text_[at_++];
            } else {
                value.text += c;
                if (spaces.find(c) != spaces.npos) continue;
            }
            kept = value.text.size();
            any = true;
        }
        value.text.resize(kept);
        if (!any)
            fail_at(value.offset, fmt::format("{}: the value of '{}' is missing; allowed: {}", syntax_.who,
                                              parameter.name, allowed_values(parameter)));
        return value;
    }

    // Returns true if a value ends here.
    bool at_end() const {
        return at_ == text_.size() || text_[at_] == ':' || syntax_.end.find(text_[at_]) != syntax_.end.npos;
    }
    // Consumes `c` if it comes next.
    bool take(char c) {
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    // Skips spaces, which may surround keys and values.
    void skip_spaces() { at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size()); }

    // Reports a problem through the callback, which knows the text around the list and throws.
    [[noreturn]] void fail_at(std::size_t offset, const std::string& problem) const {
        fail_(offset, problem);
        fail(ErrorCode::internal, problem.c_str());  // the callback throws; it must not return
    }

    std::string_view text_;
    std::size_t& at_;
    const ParameterSyntax& syntax_;
    const ParameterFailure& fail_;
    ParameterValues values_;
    std::vector<bool> given_;
};

}  // namespace

ParameterValues read_parameters(std::string_view text, std::size_t& at, const ParameterSyntax& syntax, bool main_first,
                                const ParameterFailure& fail_at) {
    return Reader(text, at, syntax, fail_at).read(main_first);
}

std::string missing_parameter(const ParameterSyntax& syntax, const ParameterValues& values) {
    for (const auto& parameter : syntax.parameters)
        if (is_required(parameter) && !values.has(parameter.name))
            return fmt::format("{} needs '{}', {}", syntax.who, parameter.name, allowed_values(parameter));
    return {};
}

ParameterValues parse_given_parameters(std::string_view text, const ParameterSyntax& syntax) {
    ParameterValues values;
    if (text.find_first_not_of(spaces) != text.npos) {
        std::size_t at = 0;
        values =
            read_parameters(text, at, syntax, !syntax.main_behind.empty(),
                            [](std::size_t, const std::string& problem) { throw Error(ErrorCode::usage, problem); });
    }
    if (const auto missing = missing_parameter(syntax, values); !missing.empty())
        throw Error(ErrorCode::usage, missing);
    return values;
}

ParameterValues parse_parameters(std::string_view text, const ParameterSyntax& syntax) {
    auto values = parse_given_parameters(text, syntax);
    values.add_defaults(syntax.parameters);
    return values;
}

std::size_t end_of_path(std::string_view text, std::span<const ParameterInfo> parameters) {
    for (auto colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
        const auto rest = text.substr(colon + 1);
        const auto key = rest.substr(0, rest.find_first_of("=:"));
        const auto is_key = [&](const auto& parameter) { return parameter.name == key; };
        if (key.size() < rest.size() && rest[key.size()] == '=' &&
            std::any_of(parameters.begin(), parameters.end(), is_key))
            return colon;
    }
    return text.size();
}

}  // namespace framewire

// Values are kept as text in the order given. Lists are short, so lookups are linear. Getters convert the text on
// every call. A value that does not convert was never validated, which is a bug and not a user's error.

namespace framewire {
namespace {

[[noreturn]] void fail_unchecked(std::string_view name, std::string_view text) {
    fail(ErrorCode::internal, "parameter {} holds '{}', which was not validated", name, text);
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
    fail(ErrorCode::internal, "there is no parameter {}", name);
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
