#pragma once

#include "framewire/filters/filter.hpp"

#include <span>
#include <string>

namespace framewire::app {

/// Returns the documentation page of a filter in Markdown, for `docs/filters/NAME.md`. The page refers to
/// pictures/before.jpg and pictures/NAME.jpg in the same folder, which scripts/filter-docs.sh makes.
std::string filter_page(const FilterInfo& filter);

/// Returns the index page of all filters, for `docs/filters/README.md`.
std::string filter_index(std::span<const FilterInfo> filters);

}  // namespace framewire::app
