#pragma once

#include "framewire/core/view.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// Composites a picture with transparency on black, as all readers of this module do: `value * alpha / 255`, rounded,
/// on the stored (gamma-encoded) values, which is what viewers and ImageMagick's `-background black -flatten` show.
/// `pixels` is BGR and alpha, or gray and alpha if `image` has 1 channel, in rows `stride_bytes` apart.
void lay_on_black(const std::uint8_t* pixels, std::ptrdiff_t stride_bytes, HostView<std::uint8_t> image);

}  // namespace framewire
