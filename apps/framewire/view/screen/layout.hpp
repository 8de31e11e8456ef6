#pragma once

#include "view/window/window.hpp"

#include <cstddef>
#include <vector>

namespace framewire::app {

/// Arrangement of the result and the original.
enum class Comparison { none, side_by_side, split };

/// Row-by-row areas for `count` pictures with the given aspect ratio (width / height): the grid that shows them
/// largest in width x height pixels.
std::vector<Area> grid_cells(std::size_t count, double aspect, int width, int height);

/// Appends the places for a camera's two pictures: number `picture` is the result and `picture` + 1 the original.
void add_places(std::vector<Place>& places, std::size_t picture, const Area& area, Comparison comparison);

}  // namespace framewire::app
