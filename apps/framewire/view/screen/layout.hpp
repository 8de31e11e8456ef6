#pragma once

#include "view/window/window.hpp"

#include <cstddef>
#include <vector>

namespace framewire::app {

/// How the result and the original are arranged.
enum class Comparison { none, side_by_side, split };

/// Returns areas for `count` pictures with the given aspect ratio (width / height), row by row: the grid that shows the
/// pictures largest in width x height pixels.
std::vector<Area> grid_cells(std::size_t count, double aspect, int width, int height);

/// Appends the places for a camera's two pictures: `picture` is the number of the result, and `picture` + 1 that of the
/// original.
void add_places(std::vector<Place>& places, std::size_t picture, const Area& area, Comparison comparison);

}  // namespace framewire::app
