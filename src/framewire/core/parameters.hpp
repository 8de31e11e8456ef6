#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace framewire {

/// Parses a duration in seconds: a number, with an optional unit s, m, h, d or w: "90", "1.5h", "7d". Returns nothing
/// if the text is malformed or the duration is not from 1 ms to 3660 days.
std::optional<double> seconds_of(std::string_view text);

/// Parses a number of bytes: a number with the decimal unit k, M, G or T, or with B: "200G", "1.5T", "4096B". A unit is
/// required. Returns nothing if the text is malformed or the amount is not from 1 to 10^18.
std::optional<double> bytes_of(std::string_view text);

/// Parses a bit rate in bits per second: a number, with an optional decimal unit k, M or G: "2M", "500k", "96000".
/// Returns nothing if the text is malformed or the rate is not from 1000 to 10^12.
std::optional<double> bits_per_second_of(std::string_view text);

/// Description of one parameter of a filter, a source, a background model or a detector. The parser, the messages, the
/// command line, --help, the docs, the JSON and the web page all use this description; nothing about a parameter is
/// written anywhere else.
struct ParameterInfo {
    /// The kinds of values. Each decides how the text is validated.
    enum class Type {
        integer,
        real,
        flag,    ///< 0 or 1
        choice,  ///< one of `choices`
        size,    ///< WIDTHxHEIGHT in pixels, both sides from `minimum` to `maximum`
        rate,    ///< frames per second: 30, 29.97 or 30000/1001
        text,
    };

    /// The key, as written before `=`.
    std::string_view name;
    /// One line of help.
    std::string_view help;
    Type type = Type::integer;
    std::string default_value{};              ///< as text, in the form in which a user writes it
    double minimum = 0;                       ///< lower limit of an integer, of a real, or of both sides of a size
    double maximum = 0;                       ///< upper limit of the same values; infinity is allowed for a real
    std::vector<std::string_view> choices{};  ///< values of a choice; for an integer, the only allowed values
    bool odd_only = false;                    ///< an integer must be odd
    bool repeatable = false;                  ///< can be given several times
    bool optional = false;                    ///< may be omitted although it has no default
    bool above_minimum = false;               ///< a real must be greater than the minimum, not equal to it
    int decimals = -1;  ///< maximum number of digits after the point of a real; -1 allows any number and exponents
    std::string_view unit{};  ///< placeholder for the value on the command line: "PX"
};

/// Returns a phrase that says which values a parameter takes: "an odd whole number from 1 to 255", "one of weighted,
/// average".
std::string allowed_values(const ParameterInfo& parameter);

/// Returns what is wrong with `value` for a parameter ("is not a number", "is out of range", ...), or an empty text if
/// it is valid.
std::string_view problem_with(const ParameterInfo& parameter, std::string_view value);

/// Returns the complete message that rejects `value`: "size '4' is even; allowed: an odd whole number from 1 to 255",
/// with the nearest choice if there is one. Returns an empty text if the value is valid.
std::string refusal_of(const ParameterInfo& parameter, std::string_view value);

/// Returns true if a parameter must be given: it has no default, and its type has no valid empty value.
bool is_required(const ParameterInfo& parameter);

/// A value and its name in text.
template <class Value>
struct NamedValue {
    std::string_view name;
    Value value;
};

/// Returns the names of all values, in order.
template <class Value, std::size_t count>
std::vector<std::string_view> names_of(const NamedValue<Value> (&values)[count]) {
    std::vector<std::string_view> names;
    for (const auto& one : values) names.push_back(one.name);
    return names;
}

/// Returns the name of `value`. Throws Error{internal} if it has none.
template <class Value, std::size_t count>
std::string_view name_of(const NamedValue<Value> (&values)[count], Value value) {
    for (const auto& one : values)
        if (one.value == value) return one.name;
    fail(ErrorCode::internal, "a value without a name");
}

/// Returns the value called `name`, or null if there is none.
template <class Value, std::size_t count>
const Value* value_named(const NamedValue<Value> (&values)[count], std::string_view name) {
    for (const auto& one : values)
        if (one.name == name) return &one.value;
    return nullptr;
}

/// Reads the number at the start of `text` and removes it from `text`. Independent of the locale. Accepts digits, with
/// a leading '-' if the type is signed; for a real also a point, an exponent, "inf" and "nan". `base` applies to whole
/// numbers. On failure `text` and `number` are unchanged: std::errc::invalid_argument means that there is no number,
/// std::errc::result_out_of_range that the type cannot hold it.
template <class Number>
std::errc take_number(std::string_view& text, Number& number, int base = 10) {
    const auto* const end = text.data() + text.size();
    std::from_chars_result read;
    if constexpr (std::is_floating_point_v<Number>)
        read = std::from_chars(text.data(), end, number);
    else
        read = std::from_chars(text.data(), end, number, base);
    if (read.ec == std::errc{}) text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return read.ec;
}

/// Reads a number as take_number() does, but all of `text` must be the number: std::errc::invalid_argument if
/// anything follows it.
template <class Number>
std::errc read_number(std::string_view text, Number& number, int base = 10) {
    Number read{};
    const auto status = take_number(text, read, base);
    if (status != std::errc{}) return status;
    if (!text.empty()) return std::errc::invalid_argument;
    number = read;
    return {};
}

/// Returns `text` as a number, or nothing if it is not exactly one number or does not fit the type.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
    Number number{};
    return read_number(text, number, base) == std::errc{} ? std::optional(number) : std::nullopt;
}

/// The values of a parameter list, validated against their ParameterInfo and completed with the defaults.
class ParameterValues {
public:
    /// Returns a whole number. All typed getters throw Error{internal} if the name has no value or the value is not
    /// of the type.
    std::int64_t integer(std::string_view name) const;
    /// Returns a real number.
    double real(std::string_view name) const;
    /// Returns true for "1", false for "0".
    bool flag(std::string_view name) const;
    /// Returns width and height in pixels, from WIDTHxHEIGHT.
    std::pair<int, int> size(std::string_view name) const;
    /// Returns a frame rate in frames per second.
    Rational rate(std::string_view name) const;
    /// Returns the text of a parameter of any type. Valid until the object changes.
    const std::string& text(std::string_view name) const;

    /// Returns all texts of a repeatable parameter, in the order given; empty if there are none.
    std::vector<std::string> texts(std::string_view name) const;
    /// Returns true if the parameter has a value, given or default.
    bool has(std::string_view name) const;
    /// Returns true if the parameter has a value that was given explicitly.
    bool is_given(std::string_view name) const;

    /// Appends an explicitly given value. For parsers: the value is not validated here.
    void add(std::string_view name, std::string value) {
        values_.push_back({std::string(name), std::move(value), true});
    }
    /// Adds the default of each parameter that has no value yet. Optional and repeatable parameters whose default is
    /// empty stay without one.
    void add_defaults(std::span<const ParameterInfo> parameters);

private:
    struct Value {
        std::string name, text;
        bool given = false;
    };

    const Value* find(std::string_view name) const;

    std::vector<Value> values_;
};

/// Returns the given values and the defaults of all other parameters, for callers that have no text to parse. The given
/// values are not validated.
ParameterValues with_defaults(std::span<const ParameterInfo> parameters,
                              std::initializer_list<std::pair<std::string, std::string>> given);

/// Syntax of a parameter list: `key=value:key=value`. Spaces around keys and values are ignored. Quoting follows
/// FFmpeg's rules, but on one level only: between '...' every character is literal, elsewhere a backslash makes the
/// next character literal. `key=''` is an empty value.
struct ParameterSyntax {
    std::string who;  ///< owner of the parameters, for messages: "filter 'gray'"
    std::span<const ParameterInfo> parameters{};
    /// Text after which the first parameter's value may be given without its key: "gray=". If empty, every value
    /// needs a key.
    std::string main_behind{};
    /// Number of leading parameters whose values may be given without keys, if no value before them has a key.
    std::size_t unnamed = 1;
    std::string_view end{};  ///< characters that end the list unless they are quoted or escaped
};

/// Receives the byte offset and the description of a problem. It must throw.
using ParameterFailure = std::function<void(std::size_t offset, const std::string& problem)>;

/// Reads the parameters that start at byte `at` of `text` and advances `at` to their end. Omitted parameters get no
/// value. If `main_first` is true, the first values may be given without keys. The time is linear in the text. Calls
/// `fail_at` for unknown keys, values that are not allowed, keys given twice, values without a key, missing parts and
/// open quotes; the message says what is allowed and suggests the nearest name.
ParameterValues read_parameters(std::string_view text, std::size_t& at, const ParameterSyntax& syntax, bool main_first,
                                const ParameterFailure& fail_at);

/// Returns a message about the first required parameter that `values` lacks, or an empty text if none is missing.
std::string missing_parameter(const ParameterSyntax& syntax, const ParameterValues& values);

/// Reads all of `text`, which may be blank, and adds the defaults. Throws Error{usage} on every problem that
/// read_parameters() reports, and if a required parameter is missing.
ParameterValues parse_parameters(std::string_view text, const ParameterSyntax& syntax);
/// Reads all of `text` as parse_parameters() does, without adding the defaults.
ParameterValues parse_given_parameters(std::string_view text, const ParameterSyntax& syntax);

/// Returns the length of the path in `PATH:key=value:key=value`. The path may contain colons: it ends at the first
/// colon that is followed by the name of a parameter and '='. Returns the size of `text` if there is no such colon.
std::size_t end_of_path(std::string_view text, std::span<const ParameterInfo> parameters);

}  // namespace framewire
