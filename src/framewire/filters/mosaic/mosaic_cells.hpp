#pragma once

#include "framewire/filters/mosaic/mosaic.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

// How both backends divide a zone into cells.

/// Largest cell that is read and filled by the same thread or block. Larger cells are first added up in parts.
inline constexpr int largest_small_cell_px = 128;
/// Rows per part of a larger cell.
inline constexpr int part_rows = 64;

/// a / b, rounded up.
constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }

/// Division of a zone into cells.
struct CellGrid {
    /// The area that the cells cover.
    Zone zone;
    int cell_px;        ///< at most the zone's longer side
    int columns, rows;  ///< number of cells across and down

    /// Divides `where` into cells of `wanted_cell_px`, or into one cell if that is larger.
    CellGrid(const Zone& where, int wanted_cell_px)
        : zone(where),
          cell_px(std::min(wanted_cell_px, std::max(where.width, where.height))),
          columns(divide_up(where.width, cell_px)),
          rows(divide_up(where.height, cell_px)) {}

    /// Width of the cells in a column; smaller in the last one if the zone's edge cuts it.
    int width_of(int column) const { return std::min(cell_px, zone.width - column * cell_px); }
    /// Height of the cells in a row of cells; smaller in the last one if the zone's edge cuts it.
    int height_of(int row) const { return std::min(cell_px, zone.height - row * cell_px); }

    /// Returns true if cells are added up and filled in one go.
    bool small_cells() const { return cell_px <= largest_small_cell_px; }
    /// Number of parts per row of large cells. In a row that the zone's edge cuts, the last parts may have no rows.
    int parts_per_row() const { return divide_up(cell_px, part_rows); }
};

}  // namespace framewire
