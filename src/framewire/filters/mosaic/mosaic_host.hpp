#pragma once

#include "framewire/filters/mosaic/mosaic_cells.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

// How the CPU backend cuts its work into chunks for threads; what a chunk finds goes where its number says.

/// Bytes of input of a chunk: small beside a core's L2, large beside the cost of handing it out.
inline constexpr std::int64_t chunk_bytes = 128 * 1024;

/// Rows of one chunk of a plain copy, and how many chunks that makes of each frame.
inline int copy_rows(const Shape& shape) {
    return static_cast<int>(std::clamp<std::int64_t>(chunk_bytes / shape.row_bytes(), 1, shape.height));
}
inline int copy_chunks_per_frame(const Shape& shape) { return divide_up(shape.height, copy_rows(shape)); }
inline std::int64_t copy_chunks(const Shape& shape) {
    return std::int64_t{shape.frames} * copy_chunks_per_frame(shape);
}

/// Rows of small cells of one chunk.
inline int cell_rows_each(const CellGrid& grid, const Shape& shape) {
    const auto bytes = std::int64_t{grid.zone.width} * shape.channels * grid.cell_px;
    return static_cast<int>(std::clamp<std::int64_t>(chunk_bytes / bytes, 1, grid.rows));
}

/// How many chunks fill a zone's cells.
inline int fill_chunks_per_frame(const CellGrid& grid, const Shape& shape) {
    return grid.small_cells() ? divide_up(grid.rows, cell_rows_each(grid, shape)) : grid.rows * grid.parts_per_row();
}
inline std::int64_t fill_chunks(const CellGrid& grid, const Shape& shape) {
    return std::int64_t{shape.frames} * fill_chunks_per_frame(grid, shape);
}

}  // namespace framewire
