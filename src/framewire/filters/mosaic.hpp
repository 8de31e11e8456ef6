#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/filter.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace framewire {

/// A rectangle of an image, in pixels.
struct Zone {
    /// Upper left corner and size.
    int x = 0, y = 0, width = 0, height = 0;

    friend bool operator==(const Zone&, const Zone&) = default;
};

/// The cells of a zone.
struct CellGrid;

/// Largest side of a cell.
inline constexpr int max_mosaic_cell_px = 4096;
/// Maximum number of zones of one mosaic.
inline constexpr int max_mosaic_zones = 64;

/// Parameters of Mosaic.
struct MosaicParameters {
    int cell_px = 16;           ///< side of a cell, 1..max_mosaic_cell_px; if larger than the image, there is one cell
    std::vector<Zone> zones{};  ///< areas to cover, at most max_mosaic_zones; if empty, the whole image is covered
};

/// Replaces each square cell by its mean, separately for each channel, rounded to nearest with halves up (mosaic
/// report).
///
/// Cells start at the upper left corner of the image or of each zone, so that a zone reveals nothing of its
/// surroundings. Cells cut off by the right or lower edge average the pixels they have. A zone that reaches beyond the
/// image ends at its edge. Every zone averages the original image; where zones overlap, the last one is visible.
///
/// `in` and `out` have the same shape, with 1 or 3 channels, any strides and alignment. They must not overlap. One run
/// at a time per plan.
class Mosaic {
public:
    /// Prepares the filter. Throws Error{usage} if the shape or the cell is not allowed, if there are too many zones,
    /// or if a zone is empty or entirely outside the image.
    Mosaic(MosaicParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

    /// Returns true if the filter can run by rows (see Filter::run_rows()): if its cells are small and it has no zones.
    bool works_by_rows() const;
    /// See Filter::rows_together().
    int rows_together() const { return parameters_.cell_px; }
    /// See Filter::begin_rows().
    void begin_rows();
    /// See Filter::run_rows().
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out);

    /// Returns the mean colour of each whole frame of the last run: `mean_b`, `mean_g` and `mean_r`, or `mean` for a
    /// gray image. Empty before the first run. Waits for the executor's stream.
    std::vector<FilterFigure> figures() const;

private:
    using HostImages = FilterImages<MemorySpace::host>;
    CellGrid whole_grid() const;
    /// Copies the batch and adds up its totals.
    void copy_all(const HostImages& images);
    /// Fills the cells of a zone; adds up the frame's totals if `count_totals` is set.
    void fill_small_cells(const HostImages& images, const Zone& zone, bool count_totals);
    void fill_large_cells(const HostImages& images, const Zone& zone, bool count_totals);

    MosaicParameters parameters_;  // parameters, with the zones clipped to the image
    Shape shape_;
    Executor* executor_;
    // Sums of all pixels, per frame and channel. On CUDA they are followed by the sums of cells that are too large for
    // one block.
    BackendBuffer sums_;
    HostBuffer chunk_totals_, chunk_cell_sums_;  // CPU only: sums from each chunk of work
    bool has_run_ = false;
};

/// Parses "x,y,w,h". Throws Error{usage} on any other text, on negative numbers and on sizes of 0.
Zone parse_zone(std::string_view text);

/// Returns the registry entry of `mosaic`.
FilterInfo mosaic_info();

// Division of a zone into cells, for both backends.

/// Largest side of a cell that the same thread or block reads and fills. Larger cells are first added up in parts.
inline constexpr int largest_small_cell_px = 128;
/// Rows per part of a larger cell.
inline constexpr int part_rows = 64;

/// Returns a / b, rounded up.
constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }

/// Division of a zone into cells.
struct CellGrid {
    /// The area that the cells cover.
    Zone zone;
    int cell_px;        ///< side of a cell, at most the zone's longer side
    int columns, rows;  ///< number of cells across and down

    /// Divides `where` into cells of `wanted_cell_px`, or into one cell if that is larger.
    CellGrid(const Zone& where, int wanted_cell_px)
        : zone(where),
          cell_px(std::min(wanted_cell_px, std::max(where.width, where.height))),
          columns(divide_up(where.width, cell_px)),
          rows(divide_up(where.height, cell_px)) {}

    /// Returns the width of the cells in a column. The last column is narrower if the zone's edge cuts it.
    int width_of(int column) const { return std::min(cell_px, zone.width - column * cell_px); }
    /// Returns the height of the cells in a row of cells. The last row is lower if the zone's edge cuts it.
    int height_of(int row) const { return std::min(cell_px, zone.height - row * cell_px); }

    /// Returns true if the same thread or block adds up and fills a cell.
    bool small_cells() const { return cell_px <= largest_small_cell_px; }
    /// Returns the number of parts per row of large cells. If the zone's edge cuts the row, the last parts may have no
    /// rows.
    int parts_per_row() const { return divide_up(cell_px, part_rows); }
};

// Division of the CPU backend's work into chunks for threads. The results of a chunk are stored at its index.

/// Bytes of input per chunk: small compared with a core's L2 cache, large enough to make the cost of handing a chunk to
/// a thread negligible.
inline constexpr std::int64_t host_chunk_bytes = 128 * 1024;

/// Returns the rows per chunk when an image is only copied.
inline int copy_rows(const Shape& shape) {
    return static_cast<int>(std::clamp<std::int64_t>(host_chunk_bytes / shape.row_bytes(), 1, shape.height));
}
/// Returns the number of chunks per frame when an image is only copied.
inline int copy_chunks_per_frame(const Shape& shape) { return divide_up(shape.height, copy_rows(shape)); }
/// Returns the number of chunks per batch when an image is only copied.
inline std::int64_t copy_chunks(const Shape& shape) {
    return std::int64_t{shape.frames} * copy_chunks_per_frame(shape);
}

/// Returns the rows of small cells per chunk.
inline int cell_rows_each(const CellGrid& grid, const Shape& shape) {
    const auto bytes = std::int64_t{grid.zone.width} * shape.channels * grid.cell_px;
    return static_cast<int>(std::clamp<std::int64_t>(host_chunk_bytes / bytes, 1, grid.rows));
}

/// Returns the number of chunks per frame that fill a zone's cells.
inline int fill_chunks_per_frame(const CellGrid& grid, const Shape& shape) {
    return grid.small_cells() ? divide_up(grid.rows, cell_rows_each(grid, shape)) : grid.rows * grid.parts_per_row();
}
/// Returns the number of chunks per batch that fill a zone's cells.
inline std::int64_t fill_chunks(const CellGrid& grid, const Shape& shape) {
    return std::int64_t{shape.frames} * fill_chunks_per_frame(grid, shape);
}

}  // namespace framewire
