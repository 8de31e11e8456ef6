#pragma once

#include "framewire/filters/border.hpp"

#include <vector>

namespace framewire {

/// A weighted mean around each pixel with the same weights along rows and columns. Along one axis, pixel i becomes the
/// sum over tap t of weights[t] * (pixel i + t - before); pixels outside the image come from the border.
struct SeparableWindow {
    std::vector<double> weights;  ///< sum to 1
    int before;                   ///< taps before the pixel itself
    Border border;                ///< pixels outside the image
};

}  // namespace framewire
