#pragma once

#include "framewire/filters/filter.hpp"

#include <span>
#include <string>

namespace framewire::app {

/// The documentation page of a filter, in Markdown: what `docs/filters/NAME.md` holds. Its pictures are
/// pictures/before.jpg and pictures/NAME.jpg beside it, which scripts/filter-docs.sh draws.
std::string filter_page(const FilterInfo& filter);

/// The page that lists them all: `docs/filters/README.md`.
std::string filter_index(std::span<const FilterInfo> filters);

}  // namespace framewire::app
