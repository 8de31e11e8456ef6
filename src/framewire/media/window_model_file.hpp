#pragma once

#include "framewire/core/parameters.hpp"
#include "framewire/hog/window_model.hpp"
#include "framewire/media/output_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// Parses a model in OpenCV's YAML; `text` is the whole file. See read_window_model() for the arguments and errors.
WindowModel parse_opencv_model(std::string_view text, const std::string& name, WindowModel like,
                               const ParameterValues& asked);

/// Reads the weights of a linear window classifier from a file. The format is detected from the start of the file:
/// - NumPy's .npy of float32 or float64 of any shape: the weights, then the bias, which may be missing (then it is 0);
///   optionally followed by a text that describes window and descriptor, as write_window_model() writes it;
/// - text: the same values as numbers separated by white space or commas; `#` starts a comment;
/// - OpenCV's YAML of a linear cv::ml::SVM (the larger of its two labels is the positive class);
/// - OpenCV's YAML of a cv::HOGDescriptor with its SVMDetector.
///
/// A cv::HOGDescriptor, and a .npy with a description, specify window and descriptor themselves; these must match
/// `asked`, values of window_parameter() and hog_fields(). OpenCV's weights are reordered from its layout (columns of
/// blocks, columns of cells) into framewire's. For the other formats window and descriptor are those of `like`, whose
/// weights and bias are ignored, and the weights are in framewire's order.
/// Throws Error{no_input} if the file does not exist or has none of these formats, and Error{usage} if the number of
/// weights does not match the window's descriptor, if the file describes a descriptor that framewire does not compute,
/// or if it contradicts `asked`. A stop request ends the wait for a pipe with Error{no_input}.
WindowModel read_window_model(const std::filesystem::path& path, WindowModel like, const ParameterValues& asked = {},
                              std::stop_token stop = {});

/// Parses a model from a whole file in memory; `name` is the file's name for messages. See read_window_model().
WindowModel parse_window_model(std::span<const std::uint8_t> bytes, const std::string& name, WindowModel like,
                               const ParameterValues& asked = {});

/// Writes a .npy with two arrays in sequence: first weights and bias, one-dimensional float32 with the bias last, which
/// numpy.load() returns; then a text, description(model). The file gets its name only when it is complete. Throws as
/// validate() does, and Error{io}.
void write_window_model(const std::filesystem::path& path, const WindowModel& model, OutputFileOptions options = {});

}  // namespace framewire

// Helpers shared by the readers of model files.

namespace framewire {

/// Parses all of `word` as a number, independent of the locale; nullopt if it is not a number.
std::optional<double> parse_number(std::string_view word);

/// Returns `like` with the weights in `numbers`, optionally followed by the bias (default 0). `name` is the file's
/// name for messages. Throws Error{usage} if the count does not match the window's descriptor.
WindowModel with_weights(WindowModel like, std::vector<float> numbers, const std::string& name);

}  // namespace framewire
