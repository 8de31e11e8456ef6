#pragma once

#include "framewire/core/parameters/values.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace framewire {

/// How a text of parameters goes: `key=value:key=value`. Spaces around keys and values do not count. Quoting is
/// FFmpeg's, but in one level: between '...' every character stands for itself, elsewhere a backslash makes the next
/// one do so; `key=''` is an empty value.
struct ParameterSyntax {
    std::string who;  ///< whose parameters they are, for messages: "filter 'gray'"
    std::span<const ParameterInfo> parameters{};
    /// Behind what the first value may stand without its key, as the first parameter's: "gray="; empty: nowhere.
    std::string main_behind{};
    /// How many values may do so one after the other, as the first parameters', while none has a key.
    std::size_t unnamed = 1;
    std::string_view end{};  ///< characters that end the text where they are neither quoted nor escaped
};

/// Is told at which byte of the text there is which problem, and throws.
using ParameterFailure = std::function<void(std::size_t offset, const std::string& problem)>;

/// Reads the parameters that begin at byte `at` of `text`, which goes to where they end; values that are left out stay
/// so. `main_first`: the first values may go without keys here. Takes time proportional to the text. Fails on unknown
/// keys, values that are not allowed, keys given twice, values without a key, missing parts and open quotes, saying
/// what is allowed and the nearest name.
ParameterValues read_parameters(std::string_view text, std::size_t& at, const ParameterSyntax& syntax, bool main_first,
                                const ParameterFailure& fail_at);

/// What is wrong with values that were read: the first parameter that must be given and is not, in words; empty when
/// none is missing.
std::string missing_parameter(const ParameterSyntax& syntax, const ParameterValues& values);

/// Reads all of `text`, which may be blank, and fills in defaults. Throws Error{usage} on what read_parameters() fails
/// on, and when a parameter is missing.
ParameterValues parse_parameters(std::string_view text, const ParameterSyntax& syntax);

/// Where in `PATH:key=value:key=value` the path, which may have colons, ends: at the first colon that is followed by
/// the name of a parameter and '='; the text's size when there is none.
std::size_t end_of_path(std::string_view text, std::span<const ParameterInfo> parameters);

}  // namespace framewire
