#pragma once

#include "framewire/core/parameters/info.hpp"
#include "framewire/filters/filter.hpp"

#include <span>
#include <string>

namespace framewire {

/// Parameters for machines: an array of JSON with, of each, name, help, type, required, default, what it may be, and
/// that in words. Where no default is known it is null.
std::string to_json(std::span<const ParameterInfo> parameters);

/// A filter for machines: an object of JSON with name, summary, needs_previous, examples and parameters.
std::string to_json(const FilterInfo& filter);

/// All filters of the registry: an array.
std::string filters_json();

}  // namespace framewire
