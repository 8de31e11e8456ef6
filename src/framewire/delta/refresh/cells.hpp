#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"

#include <algorithm>

namespace framewire::delta {

/// The cells of a frame, squares that rest or move each for itself, numbered row by row. Those at the right and the
/// lower edge are smaller.
class CellGrid {
public:
    static constexpr int side = 16;  ///< pixels; so many fit into a block
    static constexpr int most_row_bytes = side * 3;

    explicit CellGrid(const Shape& frame)
        : width_(frame.width),
          height_(frame.height),
          columns_((frame.width + side - 1) / side),
          rows_((frame.height + side - 1) / side) {}

    int columns() const { return columns_; }
    int count() const { return columns_ * rows_; }
    BlockPlace place(int cell) const {
        const int x = cell % columns_ * side, y = cell / columns_ * side;
        return {x, y, std::min(width_ - x, side), std::min(height_ - y, side)};
    }

private:
    int width_, height_, columns_, rows_;
};

}  // namespace framewire::delta
