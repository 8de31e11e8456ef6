#pragma once

#include "framewire/core/component.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/geometry/plane_map.hpp"

#include <span>
#include <vector>

namespace framewire {

/// Replaces `moved` by what becomes of objects seen in a frame when filters move its pixels: boxes around the moved
/// boxes, to the nearest pixel and cut to `shape`; areas and sums of places follow. What is left with no pixel is left
/// out. Allocates only where `moved` has no room.
void move_objects(std::span<const Component> objects, const PlaneMap& map, const Shape& shape,
                  std::vector<Component>& moved);

}  // namespace framewire
