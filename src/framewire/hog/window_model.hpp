#pragma once

#include "framewire/core/parameters.hpp"
#include "framewire/hog/hog.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// A linear classifier of windows (Dalal and Triggs 2005). The score of a window is the dot product of the weights with
/// the window's descriptor, plus the bias. It is positive for objects that the model was trained to find.
struct WindowModel {
    HogParameters hog{.norm = HogNorm::l2hys};
    int width_px = 64;    ///< width of the window, a multiple of the cell's side
    int height_px = 128;  ///< height of the window, a multiple of the cell's side
    /// One weight for each value of the window's descriptor, in the same order: rows x columns x values.
    std::vector<float> weights{};
    float bias = 0;
};

/// Returns the shape of one window's descriptor. Throws Error{usage} if the parameters are not allowed, if a
/// side is not a whole number of cells, or if the window is smaller than a block.
HogShape window_shape(const WindowModel& model);

/// Throws the errors of window_shape(), and Error{usage} if the number of weights is not that of the descriptor's
/// values or if a weight or the bias is not finite.
void validate(const WindowModel& model);

/// Returns the name, range, default and help text of the window's size; hog_fields() has those of the descriptor.
const ParameterInfo& window_parameter();

/// Version of the texts that description() writes. Version 1, which has no number, knew neither votes, gamma and colour
/// nor the norm `opencv`.
inline constexpr int window_model_format = 2;

/// Returns the window and the descriptor as a parameter list: "format=2:window=64x128:gradient=central:votes=cells
/// ...".
std::string description(const WindowModel& model);

/// Parses a text of description() to a model without weights. Missing parameters get the values that applied before
/// they could be chosen: block votes, the report's gamma, gray gradients. Throws Error{usage} if the format is newer,
/// or if parse_parameters() or window_shape() rejects the text; the message names its owner `whose`.
WindowModel described_window(std::string_view text, const std::string& whose);

/// Throws Error{usage} if the window or the descriptor differs from values that are given explicitly in `asked`, which
/// has the parameters of window_parameter() and hog_fields(). `name` is the model's file.
void require_asked(const WindowModel& model, const ParameterValues& asked, const std::string& name);

}  // namespace framewire
