#pragma once

#include "framewire/filters/filter.hpp"

#include <string_view>
#include <vector>

namespace framewire {

/// Every filter there is, by name. Adding one is adding its room, its line in a CMakeLists.txt and its line in
/// filter_registry.cpp.
const std::vector<FilterInfo>& filter_registry();

/// The entry of a filter, or null.
const FilterInfo* find_filter(std::string_view name);

}  // namespace framewire
