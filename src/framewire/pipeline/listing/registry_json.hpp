#pragma once

#include "framewire/core/parameters/info.hpp"
#include "framewire/filters/filter.hpp"

#include <span>
#include <string>

namespace framewire {

/// Returns parameters as a JSON array of objects with name, help, type, required, default, the allowed values,
/// and a description of these in words. The default is null if there is none.
std::string to_json(std::span<const ParameterInfo> parameters);

/// Returns a filter as a JSON object with name, summary, needs_previous, examples and parameters.
std::string to_json(const FilterInfo& filter);

/// Returns all filters of the registry as a JSON array.
std::string filters_json();

}  // namespace framewire
