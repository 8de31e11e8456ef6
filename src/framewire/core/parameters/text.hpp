#pragma once

#include "framewire/core/parameters/values.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace framewire {

/// Syntax of a parameter list: `key=value:key=value`. Spaces around keys and values are ignored. Quoting follows
/// FFmpeg's rules, but on one level only: between '...' every character is literal, elsewhere a backslash makes the
/// next character literal. `key=''` is an empty value.
struct ParameterSyntax {
    std::string who;  ///< owner of the parameters, for messages: "filter 'gray'"
    std::span<const ParameterInfo> parameters{};
    /// The text after which the first parameter's value may go without its key: "gray=". Empty: every value
    /// needs a key.
    std::string main_behind{};
    /// The number of leading parameters whose values may go without keys, as long as no value before them has a key.
    std::size_t unnamed = 1;
    std::string_view end{};  ///< characters that end the list unless they are quoted or escaped
};

/// Receives the byte offset and the description of a problem. It must throw.
using ParameterFailure = std::function<void(std::size_t offset, const std::string& problem)>;

/// Reads the parameters that start at byte `at` of `text` and advances `at` to their end. Parameters that are left out
/// get no value. If `main_first` is true, the first values may go without keys here. The time is linear in the text.
/// Calls `fail_at` for unknown keys, values that are not allowed, keys given twice, values without a key, missing parts
/// and open quotes; the message says what is allowed and suggests the nearest name.
ParameterValues read_parameters(std::string_view text, std::size_t& at, const ParameterSyntax& syntax, bool main_first,
                                const ParameterFailure& fail_at);

/// Returns a message about the first required parameter that `values` lacks, or an empty text if none is missing.
std::string missing_parameter(const ParameterSyntax& syntax, const ParameterValues& values);

/// Reads all of `text`, which may be blank, and adds the defaults. Throws Error{usage} on every problem that
/// read_parameters() reports, and if a required parameter is missing.
ParameterValues parse_parameters(std::string_view text, const ParameterSyntax& syntax);

/// Returns the length of the path in `PATH:key=value:key=value`. The path may contain colons: it ends at the first
/// colon that is followed by the name of a parameter and '='. Returns the size of `text` if there is no such colon.
std::size_t end_of_path(std::string_view text, std::span<const ParameterInfo> parameters);

}  // namespace framewire
