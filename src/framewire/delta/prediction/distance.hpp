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

/// Adds what was found in another part of a frame.
inline void add(Summary& sum, const Summary& more) {
    sum.count += more.count;
    sum.max_error = sum.max_error > more.max_error ? sum.max_error : more.max_error;
    sum.squared_error += more.squared_error;
}

}  // namespace framewire::delta
