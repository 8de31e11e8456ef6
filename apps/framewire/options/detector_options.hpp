#pragma once

#include "command_line/command_line.hpp"

#include "framewire/session/config/detector_settings.hpp"

#include <string>
#include <vector>

namespace framewire::app {

/// `threshold_flag` is `--threshold` where that means nothing else. Gives all that it added.
std::vector<Option> add_detector_options(Command& command, session::DetectorSettings& settings,
                                         const std::string& threshold_flag);

}  // namespace framewire::app
