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
/// Adds the differences of parts of a block to `held`, modulo 256.
void add_parts(HostView<const std::uint8_t> differences, const BlockPlace& block, PartSet parts,
               HostView<std::uint8_t> held);

}  // namespace framewire::delta
