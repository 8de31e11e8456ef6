#pragma once

#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/window_model.hpp"

#include <string>
#include <string_view>

namespace framewire {

/// The model in OpenCV's YAML, `text` being the whole file: as read_window_model() says.
WindowModel parse_opencv_model(std::string_view text, const std::string& name, WindowModel like,
                               const ParameterValues& asked);

}  // namespace framewire
