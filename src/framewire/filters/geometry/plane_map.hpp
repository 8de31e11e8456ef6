#pragma once

#include "framewire/core/view.hpp"

namespace framewire {

/// Affine map from positions in an image to positions in a filter's result: (x, y) goes to (xx * x + xy * y + x0, yx *
/// x + yy * y + y0). Positions are in pixels from the upper left corner of the first pixel, so pixel i extends from i
/// to i + 1.
struct PlaneMap {
    /// Coefficients of the result's x.
    double xx = 1, xy = 0, x0 = 0;
    /// Coefficients of the result's y.
    double yx = 0, yy = 1, y0 = 0;

    /// The composition: this map, then `next`.
    constexpr PlaneMap then(const PlaneMap& next) const {
        return {.xx = next.xx * xx + next.xy * yx,
                .xy = next.xx * xy + next.xy * yy,
                .x0 = next.xx * x0 + next.xy * y0 + next.x0,
                .yx = next.yx * xx + next.yy * yx,
                .yy = next.yx * xy + next.yy * yy,
                .y0 = next.yx * x0 + next.yy * y0 + next.y0};
    }

    friend constexpr bool operator==(const PlaneMap&, const PlaneMap&) = default;
};

}  // namespace framewire
