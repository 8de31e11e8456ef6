#pragma once

#include "view/window/window.hpp"

#include <cstddef>
#include <vector>

namespace framewire::app {

/// How results and originals are seen.
enum class Comparison { none, side_by_side, split };

/// Areas for so many pictures of that aspect, width over height, row by row: of all grids the one that shows them
/// largest in width x height pixels.
std::vector<Area> grid_cells(std::size_t count, double aspect, int width, int height);

/// Where the camera's two pictures go, from `picture` on, the original being the second.
void add_places(std::vector<Place>& places, std::size_t picture, const Area& area, Comparison comparison);

}  // namespace framewire::app
