#pragma once

#include "framewire/core/time/rational.hpp"
#include "framewire/filters/geometry/plane_map.hpp"

#include <optional>

namespace framewire::session {

/// Returns the pixel aspect (width / height) after filters have moved a frame by `placement`, so that a player shows
/// the picture with unchanged proportions, as after FFmpeg's filters. Square pixels stay square, because a filter that
/// scales them is meant to change the proportions. Empty if the placement is not a multiple of 90 degrees, or if the
/// aspect would leave the range of 1:1000 to 1000:1.
std::optional<Rational> aspect_after(const PlaneMap& placement, Rational aspect);

}  // namespace framewire::session
