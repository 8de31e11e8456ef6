#pragma once

#include "framewire/core/parameters/values.hpp"
#include "framewire/session/detector_options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// What is said of the detector of moving objects.
struct DetectorSettings {
    ParameterValues parameters{};      ///< those of detector_fields() that were given
    std::vector<std::string> zones{};  ///< where to look, each "x,y,w,h"
    std::string region_path{};         ///< of a picture that says where; empty: none
};

/// How it looks, and where. Throws Error{usage} where both zones and a picture say where, and as parse_zone() does.
/// Names of options begin with `dashes`: -- on a command line, nothing in a configuration.
DetectorOptions detector_of(const DetectorSettings& settings, std::string_view dashes);

}  // namespace framewire::session
