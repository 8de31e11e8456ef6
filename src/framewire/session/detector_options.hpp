#pragma once

#include "framewire/detect/detector.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"
#include "framewire/session/job/job_files.hpp"

#include <string>
#include <variant>
#include <vector>

namespace framewire::session {

/// Everywhere, in any of the zones, or where a picture, of a path as open_source() takes it, is not black.
using DetectorRegion = std::variant<std::monostate, std::vector<Zone>, std::string>;

/// How moving objects are looked for.
struct DetectorOptions {
    DetectorParameters parameters{};
    DetectorRegion region{};
};

/// Adds the pictures that the options name, which are read.
void add_input_files(JobFiles& files, const DetectorOptions& options);

}  // namespace framewire::session
