#pragma once

#include "framewire/detect/detector.hpp"
#include "framewire/session/job/job_files.hpp"

#include <string>

namespace framewire::session {

/// Output of a detector's steps.
struct DetectStepsOptions {
    /// Optional. Output folder, which is created if necessary; empty: steps are not written.
    std::string folder{};
    /// File name ending: a video format as in open_sink(), or png or jpg for image sequences such as gray000000.png.
    std::string format = "mkv";
};

/// Adds the files that these options write; nothing without a folder. Throws Error{usage} if the format is not
/// supported.
void add_step_files(JobFiles& files, const DetectStepsOptions& options, const DetectorParameters& detector);

}  // namespace framewire::session
