#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/refresh/cells.hpp"

#include <cstdint>
#include <vector>

namespace framewire::delta {

/// The mean of what was seen of each cell of a picture: sums of some frames, for each cell from frames of its own.
/// Move-only.
class CellSamples {
public:
    /// For frames of `shape` (one frame).
    explicit CellSamples(const Shape& shape);

    /// Forgets what was seen of a cell.
    void clear(int cell) { counts_[static_cast<std::size_t>(cell)] = 0; }
    /// Makes one sample of all there are: their mean.
    void condense(int cell);
    /// Adds the cell of a frame.
    void add(int cell, HostView<const std::uint8_t> frame);
    int count(int cell) const { return counts_[static_cast<std::size_t>(cell)]; }
    /// The mean of row `row` of the cell, 0 its first, rounded to nearest, as bytes: of its width times the channels.
    /// There is a sample.
    void mean(int cell, int row, std::uint8_t* out) const;

private:
    std::uint16_t* sums(int cell, int row) const;

    CellGrid grid_;
    int channels_;
    HostBuffer sums_;  // cell by cell, rows of the same size
    std::vector<std::uint8_t> counts_;
};

}  // namespace framewire::delta
