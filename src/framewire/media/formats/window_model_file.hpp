#pragma once

#include "framewire/hog/window_model.hpp"
#include "framewire/media/files/output_file.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>

namespace framewire {

/// Reads a model's weights from a file, which tells by its beginning what it is:
/// - NumPy's .npy of float32 or float64 of any shape: the weights, then the bias, which may be missing (then 0);
/// - text: the same as numbers separated by white space or commas, `#` begins a comment;
/// - OpenCV's YAML of a linear cv::ml::SVM (the larger of two labels is what is to be found);
/// - OpenCV's YAML of a cv::HOGDescriptor with its SVMDetector.
/// The last one brings window and descriptor itself, and its weights are put from OpenCV's order (columns of blocks,
/// columns of cells) into ours. For the others they are those of `like`, whose weights and bias do not matter, and the
/// weights lie as in our descriptors. What a descriptor is made of differs between framewire and OpenCV
/// (docs/hog/README.md), so that a model that was trained on OpenCV's finds less with ours.
/// Throws Error{no_input} when there is no such file or it is none of these, and Error{usage} when its number of
/// weights is not that of the window's descriptor or when it describes a descriptor that framewire does not compute.
/// A stop ends the wait for a pipe, as Error{no_input}.
WindowModel read_window_model(const std::filesystem::path& path, WindowModel like, std::stop_token stop = {});

/// The same from a whole file in memory; `name` is the file's, for messages.
WindowModel parse_window_model(std::span<const std::uint8_t> bytes, const std::string& name, WindowModel like);

/// Writes weights and bias as one-dimensional .npy of float32, the bias last. The window and the descriptor's
/// parameters are not in the file. It appears under its name only when whole. Throws as validate() does, and Error{io}.
void write_window_model(const std::filesystem::path& path, const WindowModel& model, OutputFileOptions options = {});

}  // namespace framewire
