#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// One parameter of a filter, a source, a background or a detector, as data: what reads its text, its messages, the
/// command line, --help, the docs, the JSON and the web panel know of it is written here and nowhere else.
struct ParameterInfo {
    enum class Type {
        integer,
        real,
        flag,    ///< 0 or 1
        choice,  ///< one of `choices`
        size,    ///< WIDTHxHEIGHT in pixels, both sides from `minimum` to `maximum`
        rate,    ///< frames a second: 30, 29.97 or 30000/1001
        text,
    };

    std::string_view name;
    std::string_view help;
    Type type = Type::integer;
    std::string default_value{};              ///< as text, in the form a user writes it
    double minimum = 0;                       ///< of an integer, a real or a size's sides
    double maximum = 0;                       ///< likewise; of a real infinity, too
    std::vector<std::string_view> choices{};  ///< of a choice; of an integer, when only these are allowed
    bool odd_only = false;                    ///< of an integer
    bool repeatable = false;                  ///< may be given several times
    bool optional = false;                    ///< has no default and may be left out all the same
    bool above_minimum = false;               ///< of a real: the minimum itself is not allowed
    int decimals = -1;                        ///< of a real: most digits behind its point; -1 is any, and exponents
    std::string_view unit{};                  ///< what stands for the value on the command line: "PX"
};

/// What values a parameter takes, in words: "an odd whole number from 1 to 255", "one of weighted, average".
std::string allowed_values(const ParameterInfo& parameter);

/// What is wrong with `value` for a parameter ("is no number", "is out of range", ...); empty when nothing is.
std::string_view problem_with(const ParameterInfo& parameter, std::string_view value);

/// The whole of it for a message: "size '4' is even; allowed is an odd whole number from 1 to 255", with the nearest
/// choice where there is one; empty when nothing is wrong.
std::string refusal_of(const ParameterInfo& parameter, std::string_view value);

/// True when a parameter must be given: it has no default, and an empty one would be no value.
bool is_required(const ParameterInfo& parameter);

}  // namespace framewire
