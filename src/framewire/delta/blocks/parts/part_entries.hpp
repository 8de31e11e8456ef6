#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_planes.hpp"
#include "framewire/delta/entropy/symbols.hpp"

#include <cstdint>

namespace framewire::delta {

/// Finds the steps of a part from its differences, writes them into `planes`, and adds the symbols of its pixels.
/// `left` and `top`: its first pixel in the block.
void add_part_entries(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left,
                      int top, StepPlanes& planes, Symbols& symbols);

}  // namespace framewire::delta
