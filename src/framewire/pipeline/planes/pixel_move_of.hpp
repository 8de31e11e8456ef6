#pragma once

#include "framewire/filters/geometry/pixel_move.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <optional>

namespace framewire {

/// What a filter of a chain does, where it moves whole pixels of an image of `from` and changes none: crops, edges,
/// mirrors and turns by right angles. Nothing for others.
std::optional<PixelMove> pixel_move_of(const FilterCall& call, const Shape& from);

}  // namespace framewire
