#pragma once

#include "framewire/core/parameters.hpp"
#include "framewire/hog/hog.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// A linear classifier of windows (Dalal and Triggs 2005). The score of a window is the dot product of the
/// weights with its descriptor, plus the bias; it is positive for what the model was trained to find.
struct WindowModel {
    HogParameters hog{.norm = HogNorm::l2hys};
    int width_px = 64;    ///< multiple of the cell's side
    int height_px = 128;  ///< multiple of the cell's side
    /// One weight per value of the window's descriptor, in its order: rows x columns x values.
    std::vector<float> weights{};
    float bias = 0;
};

/// Returns the shape of one window's descriptor. Throws Error{usage} if the parameters are not allowed, if a
/// side is not a whole number of cells, or if the window is smaller than a block.
HogShape window_shape(const WindowModel& model);

/// Throws Error{usage} as window_shape() does, and if the number of weights is not that of the descriptor's
/// values or if a weight or the bias is not finite.
void validate(const WindowModel& model);

/// Returns name, range, default and help of the window's size; hog_fields() has those of the descriptor.
const ParameterInfo& window_parameter();

/// Returns window and descriptor as a parameter list: "window=64x128:cell=8:bins=9 ...".
std::string description(const WindowModel& model);

/// Parses such a text to a model without weights. Parameters that are missing get the values from before they
/// could be chosen. Throws Error{usage} for what parse_parameters() and window_shape() reject; the message
/// names `whose` text it is.
WindowModel described_window(std::string_view text, const std::string& whose);

/// Throws Error{usage} if the window or the descriptor differs from the values that `asked` gives explicitly,
/// for parameters of window_parameter() and hog_fields(). `name` is the model's file.
void require_asked(const WindowModel& model, const ParameterValues& asked, const std::string& name);

}  // namespace framewire
