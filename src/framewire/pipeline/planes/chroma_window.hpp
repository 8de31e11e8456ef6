#pragma once

#include "framewire/filters/scale/scale_axis.hpp"
#include "framewire/filters/separable_window.hpp"

namespace framewire {

/// What a window over pixels weighs of the samples of chroma along one axis, where it goes on those alone: what chroma
/// between its samples, the window, and the way back to chroma come to together, borders included (docs/colour.md).
/// There are `pixels` pixels; `halved` says that there is one sample for two of them, `centred` that it sits between
/// them. The window's border is not black.
AxisTaps chroma_window(const SeparableWindow& window, int pixels, bool halved, bool centred);

}  // namespace framewire
