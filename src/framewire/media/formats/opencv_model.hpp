#pragma once

#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/window_model.hpp"

#include <string>
#include <string_view>

namespace framewire {

/// Parses a model in OpenCV's YAML; `text` is the whole file. See read_window_model() for the arguments and errors.
WindowModel parse_opencv_model(std::string_view text, const std::string& name, WindowModel like,
                               const ParameterValues& asked);

}  // namespace framewire
