#pragma once

#include "command_line/command_line.hpp"

#include "framewire/jobs/configuration.hpp"

#include <string>
#include <vector>

namespace framewire::app {

/// Adds the options of the motion detector and returns them. `threshold_flag` is the name of the threshold option:
/// `--threshold`, unless the command uses that name for something else.
std::vector<Option> add_detector_options(Command& command, jobs::DetectorSettings& settings,
                                         const std::string& threshold_flag);

/// Adds only the options of the detector's parameters, without those of its region, and returns them.
std::vector<Option> add_detector_parameters(Command& group, jobs::DetectorSettings& settings,
                                            const std::string& threshold_flag);

}  // namespace framewire::app
