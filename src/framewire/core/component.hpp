#pragma once

#include <cstdint>

namespace framewire {

/// One connected component of a mask: its number, bounding box, area, and the sums of its pixels' coordinates.
/// Detectors produce components, and streams carry them.
struct Component {
    std::int32_t id;  ///< 1-based, in raster order of the components' first pixels within the frame
    /// Bounding box in pixels: left column, top row, and size.
    std::int32_t x, y, width, height;
    std::int32_t area;  ///< pixels
    /// Sums of the pixels' columns and rows; divided by `area` they give the centroid.
    std::int64_t sum_x, sum_y;

    friend constexpr bool operator==(const Component&, const Component&) = default;
};

}  // namespace framewire
