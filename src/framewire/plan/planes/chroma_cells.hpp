#pragma once

#include "framewire/filters/scale_axis.hpp"

namespace framewire {

/// Replaces square cells of pixels by their means, on the samples of chroma only, along one axis: the combined
/// weights of interpolating chroma between its samples, averaging, and converting the cells back to chroma
/// (docs/colour.md). A sample between two cells, or in a border cell, gets the value that it would get through
/// BGR.
struct ChromaCells {
    AxisTaps to_cells, from_cells;
};

/// Returns the taps for cells of `cell_px` in `pixels` pixels; the last cell may be cut. `halved`: there is one
/// sample per two pixels. `centred`: it is sited between them.
ChromaCells chroma_cells(int cell_px, int pixels, bool halved, bool centred);

}  // namespace framewire
