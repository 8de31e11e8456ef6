#pragma once

#include "framewire/filters/geometry.hpp"
#include "framewire/plan/chain.hpp"

#include <optional>

namespace framewire {

/// Returns the movement of a filter that moves whole pixels of an image of shape `from` and changes none of
/// them: crops, edges, mirrors and turns by right angles. Nothing for other filters.
std::optional<PixelMove> pixel_move_of(const FilterCall& call, const Shape& from);

}  // namespace framewire
