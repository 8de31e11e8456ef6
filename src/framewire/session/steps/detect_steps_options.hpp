#pragma once

#include "framewire/detect/detector.hpp"
#include "framewire/session/job/job_files.hpp"

#include <string>

namespace framewire::session {

/// Where pictures of a detector's steps go.
struct DetectStepsOptions {
    std::string folder{};        ///< empty: not wanted; made where it is missing
    std::string format = "mkv";  ///< videos by this ending, as open_sink() has them; or png: gray000000.png ...
};

/// Adds what these options write; nothing without a folder. Throws Error{usage} on a format that is not allowed.
void add_step_files(JobFiles& files, const DetectStepsOptions& options, const DetectorParameters& detector);

}  // namespace framewire::session
