#pragma once

#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire::delta {

/// Side of the blocks that steps and pictures are coded in, each on its own, and of the parts of a block, in pixels.
inline constexpr int block_side = 64;
inline constexpr int part_side = 8;
inline constexpr int parts_per_row = block_side / part_side;

/// A block of a frame. Those at the right and the lower edge are smaller.
struct BlockPlace {
    int x, y, width, height;  ///< pixels

    int part_columns() const { return (width + part_side - 1) / part_side; }
    int part_rows() const { return (height + part_side - 1) / part_side; }
    int pixels() const { return width * height; }
};

/// The blocks of a frame, numbered row by row.
class BlockGrid {
public:
    explicit BlockGrid(const Shape& frame)
        : width_(frame.width),
          height_(frame.height),
          columns_((frame.width + block_side - 1) / block_side),
          rows_((frame.height + block_side - 1) / block_side) {}

    int columns() const { return columns_; }
    int rows() const { return rows_; }
    int count() const { return columns_ * rows_; }
    BlockPlace place(int block) const {
        const int x = block % columns_ * block_side, y = block / columns_ * block_side;
        return {x, y, std::min(block_side, width_ - x), std::min(block_side, height_ - y)};
    }

private:
    int width_, height_, columns_, rows_;
};

}  // namespace framewire::delta
