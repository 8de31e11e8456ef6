#pragma once

#include "framewire/core/time/rational.hpp"
#include "framewire/filters/geometry/plane_map.hpp"

#include <optional>

namespace framewire::session {

/// A pixel's width over its height once filters have moved a picture by `placement`: what a player shows keeps its
/// shape, as behind FFmpeg's filters. Square pixels stay square, though, for who scales those means their shape.
/// Nothing where a picture is turned by other than quarter turns.
std::optional<Rational> aspect_after(const PlaneMap& placement, Rational aspect);

}  // namespace framewire::session
