#pragma once

#include "framewire/core/view.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace framewire::codec {

/// Set of blocks of a frame: one entry per block, row by row, which is nonzero if the block belongs to the set.
using BlockSet = std::vector<std::uint8_t>;

/// Returns true if the set has at least one block.
inline bool any(const BlockSet& blocks) {
    return std::any_of(blocks.begin(), blocks.end(), [](std::uint8_t of) { return of != 0; });
}
/// Returns true if the set has every block.
inline bool all(const BlockSet& blocks) {
    return std::all_of(blocks.begin(), blocks.end(), [](std::uint8_t of) { return of != 0; });
}

/// Side in pixels of a block. Blocks are coded independently of each other.
inline constexpr int block_side = 64;
/// Side in pixels of a sub-block, the unit of modes, vectors and classes.
inline constexpr int part_side = 8;
/// Number of sub-blocks per row and per column of a whole block.
inline constexpr int parts_per_row = block_side / part_side;

/// Position and size of a block in its frame. Blocks at the right and the lower edge may be smaller.
struct BlockPlace {
    int x, y, width, height;  ///< in pixels

    /// Returns the number of columns of sub-blocks, including partial ones.
    FRAMEWIRE_HOST_DEVICE int part_columns() const { return (width + part_side - 1) / part_side; }
    /// Returns the number of rows of sub-blocks, including partial ones.
    FRAMEWIRE_HOST_DEVICE int part_rows() const { return (height + part_side - 1) / part_side; }
    /// Returns the number of pixels in the block.
    FRAMEWIRE_HOST_DEVICE int pixels() const { return width * height; }
};

/// Partition of a frame into blocks, numbered row by row from 0.
class BlockGrid {
public:
    /// Creates the grid for frames with the width and height of `frame`.
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
    /// Returns the position and size of a block with a number from 0 to count() - 1.
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

/// Lookup of the blocks that must not be used for prediction, for example because they are damaged.
class AvoidedBlocks {
public:
    /// `blocks` has one entry per block of the grid of `frame` and must outlive this object.
    AvoidedBlocks(const Shape& frame, const BlockSet& blocks) : frame_(frame), grid_(frame), blocks_(&blocks) {}

    /// Returns true if the rectangle from (left, top) to (right, bottom), both inclusive, touches an avoided block.
    /// Coordinates outside the frame are clamped to it.
    bool has(int left, int top, int right, int bottom) const {
        const auto column = [&](int x) { return std::clamp(x, 0, frame_.width - 1) / block_side; };
        const auto row = [&](int y) { return std::clamp(y, 0, frame_.height - 1) / block_side; };
        for (int y = row(top); y <= row(bottom); ++y)
            for (int x = column(left); x <= column(right); ++x)
                if ((*blocks_)[static_cast<std::size_t>(y * grid_.columns() + x)]) return true;
        return false;
    }

private:
    Shape frame_;
    BlockGrid grid_;
    const BlockSet* blocks_;
};

// Upper bounds for the size of a coded block. A symbol takes at most 12 bits, because frequencies add up to 4096 and
// are at least 1.

/// Returns the maximum number of coded bytes per pixel: a flag, a pattern, and for each channel a magnitude symbol with
/// 7 raw bits. In blocks in runs, a magnitude has 8 raw bits, and the rows and classes of sub-blocks take at most 2.1
/// bits per pixel; rounding up to whole bytes leaves room for these.
FRAMEWIRE_HOST_DEVICE constexpr std::size_t max_pixel_bytes(int channels) {
    return static_cast<std::size_t>((2 * 12 + channels * (12 + 7) + 7) / 8);
}

/// Maximum number of coded bytes per block in addition to its pixels: the modes and vectors of 64 sub-blocks, at most
/// 64 bits each, and 32 states.
inline constexpr std::size_t max_part_bytes = 768;

/// Set of sub-blocks of a block: bit column + 8 * row.
using PartSet = std::uint64_t;
/// Returns the set that contains one sub-block.
constexpr PartSet part_bit(int column, int row) { return PartSet{1} << (column + parts_per_row * row); }

/// Changed sub-blocks of one block, and its number of changed bytes.
struct BlockChanges {
    PartSet parts = 0;        ///< sub-blocks with at least one change
    std::uint32_t count = 0;  ///< number of changed bytes
};

/// Calls body(left, top, width, height) for each sub-block of the set that lies in `block`, row by row. Coordinates are
/// pixels relative to the block.
template <class Body>
void for_each_of(PartSet parts, const BlockPlace& block, Body&& body) {
    for (; parts; parts &= parts - 1) {
        const int part = std::countr_zero(parts);
        const int left = part % parts_per_row * part_side, top = part / parts_per_row * part_side;
        if (left >= block.width || top >= block.height) continue;
        body(left, top, std::min(part_side, block.width - left), std::min(part_side, block.height - top));
    }
}

/// Variant of for_each_of() that calls body once for each run of adjacent sub-blocks in a row.
template <class Body>
void for_each_run_of(PartSet parts, const BlockPlace& block, Body&& body) {
    for (int row = 0; row < block.part_rows(); ++row, parts >>= parts_per_row) {
        auto rest = static_cast<unsigned>(parts & (part_bit(0, 1) - 1));
        while (rest) {
            const int column = std::countr_zero(rest), count = std::countr_one(rest >> column);
            rest &= ~(((1u << count) - 1) << column);
            const int left = column * part_side, top = row * part_side;
            if (left >= block.width) break;
            body(left, top, std::min(count * part_side, block.width - left), std::min(part_side, block.height - top));
        }
    }
}

/// Copies one block between pictures of the same shape.
void copy_block(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, const BlockPlace& block);

/// Sets the differences of the sub-blocks `parts` to 0. `differences` has the shape of the frame.
void clear_parts(HostView<std::uint8_t> differences, const BlockPlace& block, PartSet parts);
/// Adds the differences in `tile` to the sub-blocks `parts` of the frame `held`, modulo 256. `tile` covers one block.
void add_parts(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts, HostView<std::uint8_t> held);
/// Inverse of add_parts(): subtracts the differences.
void take_parts_back(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts,
                     HostView<std::uint8_t> held);
/// Prefetches the rows of the sub-block (column, row) in `tile` and `held`; each row lies in a different cache line.
/// Call it well before the rows are used. `parts` lists the sub-blocks that are prefetched; if the left neighbour is
/// among them, it may have covered the same lines. Always inlined, because GCC removes calls of functions that only
/// prefetch.
[[gnu::always_inline]] inline void bring_near(HostView<const std::uint8_t> tile, HostView<const std::uint8_t> held,
                                              const BlockPlace& block, PartSet parts, int column, int row) {
    constexpr int line_bytes = 64;
    const int part_bytes = part_side * held.shape().channels, last_byte = (column + 1) * part_bytes - 1;
    const bool beside_another = column > 0 && (parts & part_bit(column - 1, row));
    // Most blocks begin at a cache line, so this sub-block ends in the same line as the previous one.
    if (beside_another && last_byte / line_bytes == (last_byte - part_bytes) / line_bytes) return;
    const auto in_frame =
        std::int64_t{block.x} * held.shape().channels + std::min(last_byte, block.width * held.shape().channels - 1);
    for (int y = row * part_side; y < std::min((row + 1) * part_side, block.height); ++y) {
        __builtin_prefetch(tile.row(0, y) + last_byte, 1);
        __builtin_prefetch(held.row(0, block.y + y) + in_frame, 1);
    }
}

}  // namespace framewire::codec
