#pragma once

#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/window_model.hpp"
#include "framewire/media/files/output_file.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>

namespace framewire {

/// Reads a model's weights from a file, which tells by its beginning what it is:
/// - NumPy's .npy of float32 or float64 of any shape: the weights, then the bias, which may be missing (then 0); and
///   behind them, as write_window_model() writes it, a text that says what window and descriptor they are for;
/// - text: the same as numbers separated by white space or commas, `#` begins a comment;
/// - OpenCV's YAML of a linear cv::ml::SVM (the larger of two labels is what is to be found);
/// - OpenCV's YAML of a cv::HOGDescriptor with its SVMDetector.
/// The last one and a .npy with such a text bring window and descriptor themselves: they must be what was `asked` for,
/// given values of window_parameter() and hog_fields(). OpenCV's weights are put from its order (columns of blocks,
/// columns of cells) into ours. For the others they are those of `like`, whose weights and bias do not matter, and the
/// weights lie as in our descriptors.
/// Throws Error{no_input} when there is no such file or it is none of these, and Error{usage} when its number of
/// weights is not that of the window's descriptor, when it describes a descriptor that framewire does not compute, and
/// when that is not what was asked for. A stop ends the wait for a pipe, as Error{no_input}.
WindowModel read_window_model(const std::filesystem::path& path, WindowModel like, const ParameterValues& asked = {},
                              std::stop_token stop = {});

/// The same from a whole file in memory; `name` is the file's, for messages.
WindowModel parse_window_model(std::span<const std::uint8_t> bytes, const std::string& name, WindowModel like,
                               const ParameterValues& asked = {});

/// Writes a .npy of two arrays, as NumPy puts several into a file: weights and bias, one-dimensional of float32, the
/// bias last, so that numpy.load() gives them; and a text, description(model). It appears under its name only when
/// whole. Throws as validate() does, and Error{io}.
void write_window_model(const std::filesystem::path& path, const WindowModel& model, OutputFileOptions options = {});

}  // namespace framewire
