#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/refresh/cells.hpp"

#include <cstdint>
#include <vector>

namespace framewire::delta {

/// Running mean of each cell of a picture. Each cell has its own number of samples. Move-only; different cells may be
/// used by different threads.
class CellSamples {
public:
    /// For frames of `shape`, whose `frames` must be 1.
    explicit CellSamples(const Shape& shape);

    /// Removes the samples of a cell.
    void clear(int cell) { counts_[static_cast<std::size_t>(cell)] = 0; }
    /// Replaces the samples of a cell by a single one, their mean.
    void condense(int cell);
    /// Adds a sample: the cell's pixels in `frame`.
    void add(int cell, HostView<const std::uint8_t> frame);
    /// Returns the number of samples of a cell.
    int count(int cell) const { return counts_[static_cast<std::size_t>(cell)]; }
    /// Writes the mean of row `row` of the cell, rounded to nearest: its width times the channels bytes. The cell must
    /// have a sample.
    void mean(int cell, int row, std::uint8_t* out) const;

private:
    std::uint16_t* sums(int cell, int row) const;

    CellGrid grid_;
    int channels_;
    HostBuffer sums_;  // cell by cell, in rows of equal size
    std::vector<std::uint8_t> counts_;
};

}  // namespace framewire::delta
