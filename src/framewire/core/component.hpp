#pragma once

#include <cstdint>

namespace framewire {

/// One connected component of a mask: its number, bounding box, area and the sums of its pixels' coordinates. What
/// detectors find and streams carry.
struct Component {
    std::int32_t id;  ///< from 1, in raster order of the components' first pixels, among all of the frame
    std::int32_t x, y, width, height;
    std::int32_t area;  ///< pixels
    std::int64_t sum_x, sum_y;

    friend constexpr bool operator==(const Component&, const Component&) = default;
};

}  // namespace framewire
