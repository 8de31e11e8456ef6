#pragma once

#include "framewire/filters/mosaic/mosaic_cells.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

// How the CPU backend divides its work into chunks for threads. What a chunk computes is stored at its index.

/// Bytes of input per chunk: small compared with a core's L2 cache, large compared with the cost of handing a chunk to
/// a thread.
inline constexpr std::int64_t chunk_bytes = 128 * 1024;

/// Rows per chunk when an image is only copied.
inline int copy_rows(const Shape& shape) {
    return static_cast<int>(std::clamp<std::int64_t>(chunk_bytes / shape.row_bytes(), 1, shape.height));
}
/// Number of chunks per frame when an image is only copied.
inline int copy_chunks_per_frame(const Shape& shape) { return divide_up(shape.height, copy_rows(shape)); }
/// Number of chunks per batch when an image is only copied.
inline std::int64_t copy_chunks(const Shape& shape) {
    return std::int64_t{shape.frames} * copy_chunks_per_frame(shape);
}

/// Rows of small cells per chunk.
inline int cell_rows_each(const CellGrid& grid, const Shape& shape) {
    const auto bytes = std::int64_t{grid.zone.width} * shape.channels * grid.cell_px;
    return static_cast<int>(std::clamp<std::int64_t>(chunk_bytes / bytes, 1, grid.rows));
}

/// Number of chunks per frame that fill a zone's cells.
inline int fill_chunks_per_frame(const CellGrid& grid, const Shape& shape) {
    return grid.small_cells() ? divide_up(grid.rows, cell_rows_each(grid, shape)) : grid.rows * grid.parts_per_row();
}
/// Number of chunks per batch that fill a zone's cells.
inline std::int64_t fill_chunks(const CellGrid& grid, const Shape& shape) {
    return std::int64_t{shape.frames} * fill_chunks_per_frame(grid, shape);
}

}  // namespace framewire
