#pragma once

#include "framewire/detect/detector.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"
#include "framewire/pipeline/frames/frame_detector.hpp"
#include "framewire/session/job/job_files.hpp"

#include <memory>
#include <stop_token>
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

/// A detector for frames of a shape, with its region and its background picture, where one is asked for, read from
/// their files; with masks where those are wanted. Throws as MotionDetector and open_source() do, and Error{usage} on
/// pictures of another size.
std::unique_ptr<FrameDetector> make_detector(const DetectorOptions& options, const Shape& frame, Executor& executor,
                                             const std::stop_token& stop, bool with_masks = false);

/// Adds the pictures that the options name, which are read.
void add_input_files(JobFiles& files, const DetectorOptions& options);

}  // namespace framewire::session
