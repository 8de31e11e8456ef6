#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace framewire {

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
    double maximum = 0;                       ///< upper limit of the same; infinity is allowed for a real
    std::vector<std::string_view> choices{};  ///< values of a choice; for an integer, the only allowed values
    bool odd_only = false;                    ///< an integer must be odd
    bool repeatable = false;                  ///< can be given several times
    bool optional = false;                    ///< can be left out although it has no default
    bool above_minimum = false;               ///< a real must be greater than the minimum, not equal to it
    int decimals = -1;        ///< most digits after the point of a real; -1 allows any number and exponents
    std::string_view unit{};  ///< placeholder for the value on the command line: "PX"
};

/// Returns a phrase that says which values a parameter takes: "an odd whole number from 1 to 255", "one of weighted,
/// average".
std::string allowed_values(const ParameterInfo& parameter);

/// Returns what is wrong with `value` for a parameter ("is no number", "is out of range", ...), or an empty text if it
/// is valid.
std::string_view problem_with(const ParameterInfo& parameter, std::string_view value);

/// Returns the complete message: "size '4' is even; allowed is an odd whole number from 1 to 255", with the nearest
/// choice if there is one. Returns an empty text if the value is valid.
std::string refusal_of(const ParameterInfo& parameter, std::string_view value);

/// Returns true if a parameter must be given: it has no default, and its type has no valid empty value.
bool is_required(const ParameterInfo& parameter);

}  // namespace framewire
