#pragma once

#include "framewire/core/component.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/geometry/plane_map.hpp"

#include <span>
#include <vector>

namespace framewire {

/// Replaces `moved` by the objects of a frame as they are after filters have moved its pixels: bounding boxes
/// of the moved boxes, rounded to pixels and clipped to `shape`, with matching areas and sums of coordinates.
/// Objects without a pixel left are dropped. Allocates only if the capacity of `moved` does not suffice.
void move_objects(std::span<const Component> objects, const PlaneMap& map, const Shape& shape,
                  std::vector<Component>& moved);

}  // namespace framewire
