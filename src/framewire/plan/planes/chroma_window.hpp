#pragma once

#include "framewire/filters/scale_axis.hpp"
#include "framewire/filters/window.hpp"

namespace framewire {

/// Returns the weights of the chroma samples for a window over pixels that is applied to chroma only, along one
/// axis: the combined weights of interpolating chroma between its samples, the window, and converting back to
/// chroma, including borders (docs/colour.md). There are `pixels` pixels. `halved`: there is one sample per two
/// of them. `centred`: it is sited between them. The window's border must not be black.
AxisTaps chroma_window(const SeparableWindow& window, int pixels, bool halved, bool centred);

}  // namespace framewire
