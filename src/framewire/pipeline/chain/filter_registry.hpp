#pragma once

#include "framewire/filters/filter.hpp"

#include <vector>

namespace framewire {

/// Every filter there is, by name. Adding one is adding its room, its line in a CMakeLists.txt and its line in
/// filter_registry.cpp.
const std::vector<FilterInfo>& filter_registry();

}  // namespace framewire
