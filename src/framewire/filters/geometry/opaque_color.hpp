#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <string_view>

namespace framewire {

/// The `color` parameter of filters that add pixels around the image.
ParameterInfo opaque_color_parameter(std::string_view help);

/// The value of `color` for images with `channels`; for gray images, its weighted gray. Throws Error{usage} if the text
/// is not a color or has an alpha.
Pixel opaque_color_from(const ParameterValues& values, int channels);

}  // namespace framewire
