#pragma once

#include "framewire/pipeline/frames/frame_detector.hpp"
#include "framewire/session/detector_options.hpp"

#include <memory>
#include <optional>
#include <stop_token>

namespace framewire::session {

/// Where to look, for masks of a frame's size; the picture that says so is read. Throws as open_source() and MaskRegion
/// do, and Error{usage} on a picture of another size.
std::optional<MaskRegion> make_region(const DetectorRegion& region, const Shape& frame, Executor& executor,
                                      const std::stop_token& stop);

/// The background's picture, where it is one. Throws likewise.
std::optional<HostImage> load_background(const DetectorOptions& options, const Shape& frame,
                                         const std::stop_token& stop);

/// A detector for frames of a shape, with its region and its background picture, where one is asked for, read from
/// their files; with masks where those are wanted. Throws as MotionDetector and open_source() do, and Error{usage} on
/// pictures of another size.
std::unique_ptr<FrameDetector> make_detector(const DetectorOptions& options, const Shape& frame, Executor& executor,
                                             const std::stop_token& stop, bool with_masks = false);

}  // namespace framewire::session
