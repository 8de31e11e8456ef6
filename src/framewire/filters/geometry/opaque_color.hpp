#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <string_view>

namespace framewire {

/// The `color` parameter of filters that put pixels where the image has none.
ParameterInfo opaque_color_parameter(std::string_view help);

/// The value of `color` for images of `channels`; in a gray image a colour's weighted gray. Throws Error{usage} on what
/// is no colour or has an alpha.
Pixel opaque_color_from(const ParameterValues& values, int channels);

}  // namespace framewire
