#pragma once

#include "framewire/filters/border.hpp"

#include <vector>

namespace framewire {

/// A weighted mean of the pixels around each one, by the same weights along rows and along columns: pixel i is the sum
/// over tap t of weights[t] * (pixel i + t - before), what is outside of the image by the border.
struct SeparableWindow {
    std::vector<double> weights;  ///< their sum is 1
    int before;                   ///< taps before the pixel's own
    Border border;
};

}  // namespace framewire
