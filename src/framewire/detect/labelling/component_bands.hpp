#pragma once

#include "framewire/core/view.hpp"
#include "framewire/detect/masks/bit_mask.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// How the CPU labelling divides a frame, and what it stores for each part.

namespace framewire::labelling {

/// A run of set pixels in one row: [begin, end).
struct Run {
    std::uint16_t begin, end;
};

/// Statistics of the runs of a band that have the same provisional number. United ones form trees whose root is
/// the first of each component.
struct BandComponent {
    std::uint32_t parent;  ///< index in the frame's table; a root has its own index
    std::int32_t id;
    std::int32_t min_x, end_x, min_y, end_y;
    std::int32_t area;
    std::int64_t sum_x, sum_y;
};

/// Bands of whole rows. Every band has room for the most runs and provisional components that its rows can
/// have.
struct BandCut {
    std::int64_t height, rows_each, bands;
    std::int64_t most_runs;  ///< per row
    bool eight;

    BandCut(const Shape& shape, bool eight_neighbours)
        : height(shape.height),
          rows_each(std::max<std::int64_t>((shape.height + 31) / 32, 16)),
          bands((height + rows_each - 1) / rows_each),
          most_runs((shape.width + 1) / 2),
          eight(eight_neighbours) {}

    /// First row, run and provisional component of a band.
    std::int64_t first_row(std::int64_t band) const { return std::min(band * rows_each, height); }
    std::int64_t first_run(std::int64_t band) const { return first_row(band) * most_runs; }
    /// With 8 neighbours the first pixels of two provisional components never touch: there is at most one per
    /// 2x2 pixels.
    std::int64_t first_component(std::int64_t band) const {
        return eight ? band * ((rows_each + 1) / 2) * most_runs : first_run(band);
    }
    std::int64_t components() const { return eight ? first_component(bands) : height * most_runs; }
};

/// Host memory of the CPU labelling, for one frame at a time. Each run writes everything that it reads.
struct BandWorkspace {
    BandComponent* components;      ///< a band's start at first_component()
    std::int64_t* row_ends;         ///< end of the runs of each row
    std::int64_t* band_counts;      ///< number of provisional components of each band
    std::uint32_t* run_components;  ///< for each run an index in `components`
    Run* runs;                      ///< a band's start at first_run(), row after row

    BandWorkspace(std::uint8_t* memory, const BandCut& cut)
        : components(reinterpret_cast<BandComponent*>(memory)),
          row_ends(reinterpret_cast<std::int64_t*>(components + cut.components())),
          band_counts(row_ends + cut.height),
          run_components(reinterpret_cast<std::uint32_t*>(band_counts + cut.bands)),
          runs(reinterpret_cast<Run*>(run_components + cut.height * cut.most_runs)) {}

    // Returns the bytes of memory for the constructor.
    static std::size_t bytes(const BandCut& cut) {
        return static_cast<std::size_t>(cut.components()) * sizeof(BandComponent) +
               static_cast<std::size_t>(cut.height + cut.bands) * sizeof(std::int64_t) +
               static_cast<std::size_t>(cut.height * cut.most_runs) * (sizeof(std::uint32_t) + sizeof(Run));
    }
};

}  // namespace framewire::labelling
