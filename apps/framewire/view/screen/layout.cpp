// Arrangement of pictures in the window.

#include "view/screen/layout.hpp"

#include <algorithm>
#include <cmath>

namespace framewire::app {
namespace {

constexpr float gap_px = 2;  // separates dark pictures

}  // namespace

// Tries every number of columns.
std::vector<Area> grid_cells(std::size_t count, double aspect, int width, int height) {
    std::size_t columns = 1;
    double largest = 0;
    for (std::size_t across = 1; across <= count; ++across) {
        const auto rows = static_cast<double>((count + across - 1) / across);
        const double picture_width = std::min(width / static_cast<double>(across), aspect * height / rows);
        if (picture_width <= largest) continue;
        largest = picture_width;
        columns = across;
    }
    const auto rows = (count + columns - 1) / columns;
    // Positions are rounded to whole pixels, so that a cell of exactly the picture's size shows the picture unscaled.
    const auto edge = [](int whole, std::size_t number, std::size_t of) {
        return static_cast<float>(static_cast<std::size_t>(whole) * number / of);
    };
    std::vector<Area> cells;
    for (std::size_t index = 0; index < count; ++index) {
        const auto column = index % columns, row = index / columns;
        Area cell{edge(width, column, columns), edge(height, row, rows), 0, 0};
        cell.width = edge(width, column + 1, columns) - cell.x - (column + 1 < columns ? gap_px : 0);
        cell.height = edge(height, row + 1, rows) - cell.y - (row + 1 < rows ? gap_px : 0);
        cells.push_back(cell);
    }
    return cells;
}

// In the split view, the left half shows the original and the right half the result.
void add_places(std::vector<Place>& places, std::size_t picture, const Area& area, Comparison comparison) {
    switch (comparison) {
        case Comparison::none: places.push_back({.picture = picture, .area = area}); break;
        case Comparison::side_by_side: {
            Area left = area, right = area;
            left.width = std::floor(area.width / 2);
            right.x += left.width;
            right.width -= left.width;
            places.push_back({.picture = picture + 1, .area = left});
            places.push_back({.picture = picture, .area = right});
            break;
        }
        case Comparison::split:
            places.push_back({.picture = picture, .area = area});
            places.push_back({.picture = picture + 1, .area = area, .to = 0.5});
            break;
    }
}

}  // namespace framewire::app
