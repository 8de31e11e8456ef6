#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire::delta {

/// Side in pixels of a block. Blocks are coded independently of each other.
inline constexpr int block_side = 64;
/// Side in pixels of a sub-block, the unit of modes, vectors and classes.
inline constexpr int part_side = 8;
/// Number of sub-blocks in a row of a whole block, and of rows.
inline constexpr int parts_per_row = block_side / part_side;

/// Position and size of a block in its frame. Blocks at the right and the lower edge may be smaller.
struct BlockPlace {
    int x, y, width, height;  ///< in pixels

    /// Returns the number of columns of sub-blocks, including partial ones.
    FRAMEWIRE_HOST_DEVICE int part_columns() const { return (width + part_side - 1) / part_side; }
    /// Returns the number of rows of sub-blocks, including partial ones.
    FRAMEWIRE_HOST_DEVICE int part_rows() const { return (height + part_side - 1) / part_side; }
    /// Returns the number of pixels.
    FRAMEWIRE_HOST_DEVICE int pixels() const { return width * height; }
};

/// Partition of a frame into blocks, numbered row by row from 0.
class BlockGrid {
public:
    /// Makes the grid for frames of the width and height of `frame`.
    FRAMEWIRE_HOST_DEVICE explicit BlockGrid(const Shape& frame)
        : width_(frame.width),
          height_(frame.height),
          columns_((frame.width + block_side - 1) / block_side),
          rows_((frame.height + block_side - 1) / block_side) {}

    /// Returns the number of blocks in a row.
    FRAMEWIRE_HOST_DEVICE int columns() const { return columns_; }
    /// Returns the number of rows of blocks.
    FRAMEWIRE_HOST_DEVICE int rows() const { return rows_; }
    /// Returns the number of blocks.
    FRAMEWIRE_HOST_DEVICE int count() const { return columns_ * rows_; }
    /// Returns the position of a block, 0 to count() - 1.
    FRAMEWIRE_HOST_DEVICE BlockPlace place(int block) const {
        const int x = block % columns_ * block_side, y = block / columns_ * block_side;
        return {x, y, width_ - x < block_side ? width_ - x : block_side,
                height_ - y < block_side ? height_ - y : block_side};
    }
    /// Returns the block that contains the pixel (x, y), which must lie in the frame.
    FRAMEWIRE_HOST_DEVICE int block_at(int x, int y) const { return y / block_side * columns_ + x / block_side; }

private:
    int width_, height_, columns_, rows_;
};

}  // namespace framewire::delta
