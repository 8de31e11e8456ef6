#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"

namespace framewire {

/// Maps every pixel of a result to a pixel of an image. With (u, v) = (x, y), or (y, x) if transposed, the source is (x
/// + step_x * u, y + step_y * v). Steps are 1 or -1.
struct PixelMap {
    int x = 0, y = 0;  ///< source of the result's first pixel
    /// Direction along each axis, 1 or -1.
    int step_x = 1, step_y = 1;
    /// Exchanges the axes.
    bool transposed = false;

    /// Column of the image that supplies pixel (to_x, to_y) of the result. May lie outside.
    FRAMEWIRE_HOST_DEVICE constexpr int source_x(int to_x, int to_y) const {
        return x + step_x * (transposed ? to_y : to_x);
    }
    /// Row of the image that supplies pixel (to_x, to_y) of the result. May lie outside.
    FRAMEWIRE_HOST_DEVICE constexpr int source_y(int to_x, int to_y) const {
        return y + step_y * (transposed ? to_x : to_y);
    }
};

/// Returns true if every pixel of a result of shape `to` comes from inside an image of shape `from`.
constexpr bool is_inside(const PixelMap& map, const Shape& from, const Shape& to) {
    const auto at = [&](int x, int y) {
        const int from_x = map.source_x(x, y), from_y = map.source_y(x, y);
        return from_x >= 0 && from_x < from.width && from_y >= 0 && from_y < from.height;
    };
    return at(0, 0) && at(to.width - 1, to.height - 1);
}

/// Map that mirrors a whole image of `shape` left to right, top to bottom, or both.
constexpr PixelMap mirrored(const Shape& shape, bool left_right, bool top_bottom) {
    return {.x = left_right ? shape.width - 1 : 0,
            .y = top_bottom ? shape.height - 1 : 0,
            .step_x = left_right ? -1 : 1,
            .step_y = top_bottom ? -1 : 1};
}

}  // namespace framewire
