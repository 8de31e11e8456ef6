#pragma once

#include "framewire/core/view.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// Lays a picture with transparency on black, as every reader does: `value * alpha / 255`, rounded, of the values as
/// they are stored, which is what viewers and ImageMagick's `-background black -flatten` show. `pixels` has BGR and
/// alpha, or gray and alpha for an image of 1 channel, in rows `stride_bytes` apart.
void lay_on_black(const std::uint8_t* pixels, std::ptrdiff_t stride_bytes, HostView<std::uint8_t> image);

}  // namespace framewire
