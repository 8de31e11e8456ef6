#pragma once

#include "framewire/core/parameters/values.hpp"
#include "framewire/session/detector_options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// Settings of motion detection, as texts from the command line or a configuration.
struct DetectorSettings {
    /// Parameters of detector_fields() that were given.
    ParameterValues parameters{};
    /// Regions of interest, each "x,y,w,h".
    std::vector<std::string> zones{};
    /// Path of a picture that defines the region; empty: none.
    std::string region_path{};
};

/// Converts the settings. Throws Error{usage} if both zones and a picture are given, and as parse_zone() does. `dashes`
/// precede option names in messages: -- for the command line, nothing for a configuration.
DetectorOptions detector_of(const DetectorSettings& settings, std::string_view dashes);

}  // namespace framewire::session
