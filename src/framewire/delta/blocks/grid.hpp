#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire::delta {

/// Side of the blocks that steps and pictures are coded in, each on its own, and of the parts of a block, in pixels.
inline constexpr int block_side = 64;
inline constexpr int part_side = 8;
inline constexpr int parts_per_row = block_side / part_side;

/// A block of a frame. Those at the right and the lower edge are smaller.
struct BlockPlace {
    int x, y, width, height;  ///< pixels

    FRAMEWIRE_HOST_DEVICE int part_columns() const { return (width + part_side - 1) / part_side; }
    FRAMEWIRE_HOST_DEVICE int part_rows() const { return (height + part_side - 1) / part_side; }
    FRAMEWIRE_HOST_DEVICE int pixels() const { return width * height; }
};

/// The blocks of a frame, numbered row by row.
class BlockGrid {
public:
    FRAMEWIRE_HOST_DEVICE explicit BlockGrid(const Shape& frame)
        : width_(frame.width),
          height_(frame.height),
          columns_((frame.width + block_side - 1) / block_side),
          rows_((frame.height + block_side - 1) / block_side) {}

    FRAMEWIRE_HOST_DEVICE int columns() const { return columns_; }
    FRAMEWIRE_HOST_DEVICE int rows() const { return rows_; }
    FRAMEWIRE_HOST_DEVICE int count() const { return columns_ * rows_; }
    FRAMEWIRE_HOST_DEVICE BlockPlace place(int block) const {
        const int x = block % columns_ * block_side, y = block / columns_ * block_side;
        return {x, y, width_ - x < block_side ? width_ - x : block_side,
                height_ - y < block_side ? height_ - y : block_side};
    }
    FRAMEWIRE_HOST_DEVICE int block_at(int x, int y) const { return y / block_side * columns_ + x / block_side; }

private:
    int width_, height_, columns_, rows_;
};

}  // namespace framewire::delta
