#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"

namespace framewire::delta {

/// Grid of cells, the squares of a frame that are static or moving independently of each other, numbered row by row.
/// Cells at the right and the lower edge may be smaller.
class CellGrid {
public:
    static constexpr int side = 16;  ///< in pixels
    /// Maximum number of bytes in a row of a cell.
    static constexpr int most_row_bytes = side * 3;
    /// Number of cells in a row of a block.
    static constexpr int in_block_row = block_side / side;

    /// Makes the grid for frames of the width and height of `frame`.
    FRAMEWIRE_HOST_DEVICE explicit CellGrid(const Shape& frame)
        : width_(frame.width),
          height_(frame.height),
          columns_((frame.width + side - 1) / side),
          rows_((frame.height + side - 1) / side) {}

    /// Returns the number of cells in a row.
    FRAMEWIRE_HOST_DEVICE int columns() const { return columns_; }
    /// Returns the number of cells.
    FRAMEWIRE_HOST_DEVICE int count() const { return columns_ * rows_; }
    /// Returns the position and size of a cell in pixels.
    FRAMEWIRE_HOST_DEVICE BlockPlace place(int cell) const {
        const int x = cell % columns_ * side, y = cell / columns_ * side;
        return {x, y, width_ - x < side ? width_ - x : side, height_ - y < side ? height_ - y : side};
    }
    /// Returns the cell that contains byte `x` of row `y` of the frame.
    FRAMEWIRE_HOST_DEVICE int cell_of(int y, int x, int channels) const {
        return y / side * columns_ + x / (side * channels);
    }

    /// Returns the number of ranks. Ranks order cells block by block, because refining several cells of one block costs
    /// less than of several blocks. Some ranks have no cell.
    FRAMEWIRE_HOST_DEVICE int ranks() const {
        return block_columns() * ((rows_ + in_block_row - 1) / in_block_row) * in_block_row * in_block_row;
    }
    /// Returns the rank of a cell.
    FRAMEWIRE_HOST_DEVICE int rank(int cell) const {
        const int row = cell / columns_, column = cell % columns_;
        const int block = row / in_block_row * block_columns() + column / in_block_row;
        return (block * in_block_row + row % in_block_row) * in_block_row + column % in_block_row;
    }
    /// Returns the cell of a rank, or -1 if it has none.
    FRAMEWIRE_HOST_DEVICE int cell_of_rank(int rank) const {
        const int block = rank / (in_block_row * in_block_row), within = rank % (in_block_row * in_block_row);
        const int row = block / block_columns() * in_block_row + within / in_block_row;
        const int column = block % block_columns() * in_block_row + within % in_block_row;
        return row < rows_ && column < columns_ ? row * columns_ + column : -1;
    }

private:
    FRAMEWIRE_HOST_DEVICE int block_columns() const { return (columns_ + in_block_row - 1) / in_block_row; }

    int width_, height_, columns_, rows_;
};

}  // namespace framewire::delta
