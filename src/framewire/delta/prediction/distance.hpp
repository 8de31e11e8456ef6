#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>

namespace framewire::delta {

/// Compares two pictures of one shape within a block: how many bytes are further apart than `threshold`, the furthest,
/// and the sum of all squares.
Summary block_distance(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                       const BlockPlace& block, int threshold);

}  // namespace framewire::delta
