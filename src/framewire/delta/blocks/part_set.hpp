#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace framewire::delta {

/// Set of sub-blocks of a block: bit column + 8 * row.
using PartSet = std::uint64_t;
/// Returns the set with one sub-block.
constexpr PartSet part_bit(int column, int row) { return PartSet{1} << (column + parts_per_row * row); }

/// Changes of one block: which sub-blocks change and how many bytes.
struct BlockChanges {
    PartSet parts = 0;        ///< sub-blocks with at least one change
    std::uint32_t count = 0;  ///< changed bytes
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

/// Variant of for_each_of() that joins adjacent sub-blocks of a row into one call.
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

/// Sets the differences of the sub-blocks `parts` to 0. `differences` has the shape of the frame.
void clear_parts(HostView<std::uint8_t> differences, const BlockPlace& block, PartSet parts);
/// Adds differences to the sub-blocks `parts` of the frame `held`, modulo 256. `tile` holds the differences of one
/// block.
void add_parts(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts, HostView<std::uint8_t> held);
/// Subtracts what add_parts() added.
void take_parts_back(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts,
                     HostView<std::uint8_t> held);
/// Prefetches the rows of the sub-block (column, row) in `tile` and `held`, which lie in different cache lines. Call it
/// some time before they are used. `parts` are the sub-blocks for which it is called; the set decides whether the left
/// neighbour has prefetched the same lines. Inlined by force: GCC drops calls of functions that do nothing but
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

}  // namespace framewire::delta
