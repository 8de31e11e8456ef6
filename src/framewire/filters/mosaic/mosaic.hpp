#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace framewire {

/// A rectangle of an image, in pixels.
struct Zone {
    int x = 0, y = 0, width = 0, height = 0;

    friend bool operator==(const Zone&, const Zone&) = default;
};

struct CellGrid;

inline constexpr int max_mosaic_cell_px = 4096;
inline constexpr int max_mosaic_zones = 64;

struct MosaicParameters {
    int cell_px = 16;           ///< side of a cell, 1..max_mosaic_cell_px; larger than the image: one cell
    std::vector<Zone> zones{};  ///< where the mosaic is, at most max_mosaic_zones; everywhere when there are none
};

/// Each cell becomes its own mean in every channel, rounded to nearest, half up (mosaic report). Cells begin at the
/// upper left corner of the image, or of each zone, so that a zone shows nothing of what lies around it; those that the
/// right and lower edge cut average the pixels they have. A zone that reaches over the image's edge ends there. Zones
/// average the image as it came; where they overlap, the last one is seen. In and out: any strides, any alignment, no
/// overlap. A plan is for one run at a time.
class Mosaic {
public:
    /// Throws Error{usage} on a shape or cell that is not allowed, too many zones, and zones of no size or wholly
    /// outside.
    Mosaic(MosaicParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

    /// See RowFilter: whole small cells, without zones.
    bool goes_by_rows() const;
    int rows_together() const { return parameters_.cell_px; }
    void begin_rows();
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out);

    /// The mean colour of each whole frame of the last run: `mean_b`, `mean_g`, `mean_r`, or `mean` of a gray image.
    /// Waits for the executor's stream.
    std::vector<FilterFigure> figures() const;

private:
    using HostImages = FilterImages<MemorySpace::host>;
    CellGrid whole_grid() const;
    void copy_all(const HostImages& images);
    void fill_small_cells(const HostImages& images, const Zone& zone, bool count_totals);
    void fill_large_cells(const HostImages& images, const Zone& zone, bool count_totals);

    MosaicParameters parameters_;  // its zones cut to the image
    Shape shape_;
    Executor* executor_;
    // Of each frame and channel, the sum of all pixels; on CUDA behind them sums of cells too large for one block.
    BackendBuffer sums_;
    HostBuffer chunk_totals_, chunk_cell_sums_;  // CPU: what each thread's pieces add up to
    bool has_run_ = false;
};

/// Reads "x,y,w,h". Throws Error{usage} on anything else, negative numbers and sizes of 0.
Zone parse_zone(std::string_view text);

/// The registry's entry.
FilterInfo mosaic_info();

}  // namespace framewire
