#pragma once

#include "framewire/filters/filter.hpp"

#include <vector>

namespace framewire {

/// Returns every filter in alphabetical order. To add one, add its folder, a line in a CMakeLists.txt, and a
/// line in filter_registry.cpp.
const std::vector<FilterInfo>& filter_registry();

}  // namespace framewire
