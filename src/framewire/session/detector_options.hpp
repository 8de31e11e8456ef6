#pragma once

#include "framewire/detect/detector.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"
#include "framewire/session/job/job_files.hpp"

#include <string>
#include <variant>
#include <vector>

namespace framewire::session {

/// Region in which objects are detected: the whole frame, the union of some rectangles, or the pixels that are not
/// black in a picture, given as a path that open_source() takes.
using DetectorRegion = std::variant<std::monostate, std::vector<Zone>, std::string>;

/// Options of motion detection.
struct DetectorOptions {
    DetectorParameters parameters{};
    DetectorRegion region{};
};

/// Adds the pictures that these options read to `files`.
void add_input_files(JobFiles& files, const DetectorOptions& options);

}  // namespace framewire::session
