#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>

namespace framewire::delta {

/// Compares a block of two pictures of one shape. Returns the number of bytes that differ by more than `threshold`, and
/// the maximum and the sum of squares of all differences. Thread-safe.
Summary block_distance(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                       const BlockPlace& block, int threshold);

}  // namespace framewire::delta
