#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_planes.hpp"
#include "framewire/delta/entropy/symbols.hpp"

#include <cstdint>

namespace framewire::delta {

/// Codes a sub-block of a block of changes: finds its steps from the differences of the frame, stores them in `planes`,
/// and adds the symbols of its pixels to `symbols`. (left, top) is its first pixel in the block. The sub-blocks coded
/// before must be in `planes`.
void add_part_entries(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left,
                      int top, StepPlanes& planes, Symbols& symbols);

}  // namespace framewire::delta
