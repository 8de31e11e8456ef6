#pragma once

#include "framewire/filters/filter.hpp"

#include <string>
#include <string_view>

namespace framewire {

/// What values a parameter takes, in words: "an odd whole number from 1 to 255", "one of weighted, average".
std::string allowed_values(const ParameterInfo& parameter);

/// What is wrong with `value` for a parameter ("is no number", "is out of range", ...); empty when nothing is.
std::string_view problem_with(const ParameterInfo& parameter, std::string_view value);

/// True when a chain must give this parameter: it has no default, and an empty one would be no value.
bool is_required(const ParameterInfo& parameter);

}  // namespace framewire
