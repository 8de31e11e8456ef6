#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace framewire::delta {

/// Which parts of a block change: bit column + 8 * row.
using PartSet = std::uint64_t;
constexpr PartSet part_bit(int column, int row) { return PartSet{1} << (column + parts_per_row * row); }

/// Calls body(left, top, width, height), in pixels of the block, for each part of `parts` that the block has.
template <class Body>
void for_each_of(PartSet parts, const BlockPlace& block, Body&& body) {
    for (; parts; parts &= parts - 1) {
        const int part = std::countr_zero(parts);
        const int left = part % parts_per_row * part_side, top = part / parts_per_row * part_side;
        if (left >= block.width || top >= block.height) continue;
        body(left, top, std::min(part_side, block.width - left), std::min(part_side, block.height - top));
    }
}

/// Sets the differences of parts of a block to 0.
void clear_parts(HostView<std::uint8_t> differences, const BlockPlace& block, PartSet parts);
/// Adds the differences of parts of a block to `held`, modulo 256. `tile`: of a whole block's pixels.
void add_parts(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts, HostView<std::uint8_t> held);
/// Undoes it.
void take_parts_back(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts,
                     HostView<std::uint8_t> held);
/// Early: a part's rows are far apart, and each waits for its line of the cache. Within its caller: GCC leaves calls
/// out of what only brings something near.
[[gnu::always_inline]] inline void bring_near(HostView<const std::uint8_t> tile, HostView<const std::uint8_t> held,
                                              const BlockPlace& block, int column, int row) {
    const int top = row * part_side, bottom = std::min(top + part_side, block.height);
    const auto channels = held.shape().channels;
    const auto in_tile = std::int64_t{column * part_side} * channels;
    const auto in_frame = std::int64_t{block.x} * channels + in_tile;
    for (int y = top; y < bottom; ++y) {
        __builtin_prefetch(tile.row(0, y) + in_tile, 1);
        __builtin_prefetch(held.row(0, block.y + y) + in_frame, 1);
    }
}

}  // namespace framewire::delta
