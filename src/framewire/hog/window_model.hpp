#pragma once

#include "framewire/hog/hog.hpp"

#include <vector>

namespace framewire {

/// A linear classifier of windows (Dalal and Triggs 2005): what a window of pixels scores is the product of the weights
/// with its descriptor, plus the bias. Positive scores are for what the model was trained to find.
struct WindowModel {
    HogParameters hog{.norm = HogNorm::l2hys};
    int width_px = 64;    ///< of the window; a multiple of the cell's side
    int height_px = 128;  ///< likewise
    /// One for each value of the window's descriptor, in its order: rows x columns x values.
    std::vector<float> weights{};
    float bias = 0;
};

/// The shape of one window's descriptor. Throws Error{usage} on parameters that are not allowed, on sides that are not
/// whole cells, and on windows smaller than a block.
HogShape window_shape(const WindowModel& model);

/// Throws Error{usage} as window_shape() does, when the number of weights is not the descriptor's, and when one of them
/// or the bias is not finite.
void validate(const WindowModel& model);

}  // namespace framewire
