#pragma once

#include "framewire/filters/adjustment.hpp"

namespace framewire {

/// What a pointwise filter does to one pixel, as data: a pass over the picture runs a list of them.
struct PointwiseOp {
    enum class Kind { gray_weighted, gray_average, binarize, adjust, heatmap, noise_mask, noise_overlay };

    Kind kind{};
    int channels = 0;      ///< of the result; 0: as many as before
    int threshold = 0;     ///< of binarize (its level) and noise
    AdjustTerms adjust{};  ///< of adjust

    constexpr bool needs_previous() const {
        return kind == Kind::heatmap || kind == Kind::noise_mask || kind == Kind::noise_overlay;
    }
};

}  // namespace framewire
