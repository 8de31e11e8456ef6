#pragma once

#include "framewire/filters/mosaic/mosaic.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

// How both backends take a zone's cells apart.

/// Cells up to this side are read and filled by whoever read them; of larger ones several add up parts first.
inline constexpr int largest_small_cell_px = 128;
/// Rows of one part of a larger cell.
inline constexpr int part_rows = 64;

constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }

/// The cells of a zone.
struct CellGrid {
    Zone zone;
    int cell_px;  ///< not larger than the zone's longer side
    int columns, rows;

    CellGrid(const Zone& where, int wanted_cell_px)
        : zone(where),
          cell_px(std::min(wanted_cell_px, std::max(where.width, where.height))),
          columns(divide_up(where.width, cell_px)),
          rows(divide_up(where.height, cell_px)) {}

    /// Pixels of a cell across and down, fewer where the zone's edge cuts it.
    int width_of(int column) const { return std::min(cell_px, zone.width - column * cell_px); }
    int height_of(int row) const { return std::min(cell_px, zone.height - row * cell_px); }

    bool small_cells() const { return cell_px <= largest_small_cell_px; }
    /// Parts of one row of large cells; in a cut row the last ones may have no rows.
    int parts_per_row() const { return divide_up(cell_px, part_rows); }
};

}  // namespace framewire
