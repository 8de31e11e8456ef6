#pragma once

#include "options/command_line.hpp"

#include "framewire/core/parameters/values.hpp"
#include "framewire/session/detector.hpp"

#include <string>
#include <vector>

namespace framewire::app {

/// The flags of whoever looks for moving objects.
struct DetectorFlags {
    ParameterValues parameters;      ///< those of detector_fields() that were given
    std::vector<std::string> zones;  ///< each "x,y,w,h"
    std::string region_path;         ///< of a mask image; empty: none

    /// As they are understood. Throws Error{usage}.
    session::DetectorOptions options() const;
};

/// `threshold_flag` is `--threshold` where that means nothing else.
void add_detector_options(Command& command, DetectorFlags& flags, const std::string& threshold_flag);

}  // namespace framewire::app
