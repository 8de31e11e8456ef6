#pragma once

#include "framewire/filters/scale/scale_axis.hpp"

namespace framewire {

/// How square cells of pixels become their means on the samples of chroma alone, along one axis: what chroma between
/// its samples and the mean come to together, and what the way from cells back to chroma does (docs/colour.md). So
/// where a sample sits between two cells, or in a border's cell, it is what it would be by way of BGR.
struct ChromaCells {
    AxisTaps to_cells, from_cells;
};

/// Of cells of `cell_px` of `pixels` pixels, the last one cut; `halved` says that there is one sample for two pixels,
/// `centred` that it sits between them.
ChromaCells chroma_cells(int cell_px, int pixels, bool halved, bool centred);

}  // namespace framewire
