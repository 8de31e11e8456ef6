#pragma once

#include "options/output_check.hpp"

#include "framewire/core/parameters/values.hpp"
#include "framewire/pipeline/frames/frame_detector.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace framewire::app {

/// The flags of whoever looks for moving objects.
struct DetectorOptions {
    ParameterValues parameters;      ///< those of detector_fields() that were given
    std::vector<std::string> zones;  ///< each "x,y,w,h"
    std::string region_path;         ///< of a mask image; empty: none
};

/// `threshold_flag` is `--threshold` where that means nothing else.
void add_detector_options(CLI::App& command, DetectorOptions& options, const std::string& threshold_flag);

/// The options as they are understood. Throws Error{usage}.
DetectorParameters detector_parameters(const DetectorOptions& options);

/// A detector for frames of a shape, with its region and its background picture, where one is asked for, read from
/// their files; with masks where those are wanted. Throws as MotionDetector and open_source() do, and Error{usage} on
/// pictures of another size.
std::unique_ptr<FrameDetector> make_detector(const DetectorOptions& options, const Shape& frame, Executor& executor,
                                             const std::stop_token& stop, bool with_masks = false);

/// The pictures that the options name, which are read.
void add_input_files(RunFiles& files, const DetectorOptions& options);

}  // namespace framewire::app
