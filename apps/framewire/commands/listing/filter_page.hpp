#pragma once

#include "framewire/filters/filter.hpp"

#include <span>
#include <string>

namespace framewire::app {

/// Documentation page of a filter in Markdown, the content of `docs/filters/NAME.md`. It refers to pictures/before.jpg
/// and pictures/NAME.jpg beside it, which scripts/filter-docs.sh draws.
std::string filter_page(const FilterInfo& filter);

/// Index page of all filters: `docs/filters/README.md`.
std::string filter_index(std::span<const FilterInfo> filters);

}  // namespace framewire::app
