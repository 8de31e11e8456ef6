#pragma once

#include "framewire/core/parameters/info.hpp"
#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/hog.hpp"

#include <string>
#include <string_view>
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

/// The name, range, default and help of the window's size; hog_fields() has those of the descriptor.
const ParameterInfo& window_parameter();

/// The window and the descriptor as a text of parameters: "window=64x128:cell=8:bins=9 ...".
std::string description(const WindowModel& model);

/// A model without weights from such a text; what the text leaves out is as it was before there was a choice. Throws
/// Error{usage} on what parse_parameters() and window_shape() fail on, saying `whose` it is.
WindowModel described_window(std::string_view text, const std::string& whose);

/// Throws Error{usage} where the window or the descriptor is not what `asked` says, given values of window_parameter()
/// and hog_fields(); `name` is the model's file.
void require_asked(const WindowModel& model, const ParameterValues& asked, const std::string& name);

}  // namespace framewire
