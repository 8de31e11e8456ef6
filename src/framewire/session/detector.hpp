#pragma once

#include "framewire/pipeline/frames/frame_detector.hpp"
#include "framewire/session/detector_options.hpp"

#include <memory>
#include <optional>
#include <stop_token>

namespace framewire::session {

/// Returns the detection region for masks of the size of `frame`; empty if detection is not restricted. Reads the
/// picture if `region` names one. Throws as open_source() and MaskRegion do, and Error{usage} if that picture has
/// another size.
std::optional<MaskRegion> make_region(const DetectorRegion& region, const Shape& frame, Executor& executor,
                                      const std::stop_token& stop);

/// Returns the background picture if `options` name one, else nothing. Throws as open_source() does, and Error{usage}
/// if the picture has another size.
std::optional<HostImage> load_background(const DetectorOptions& options, const Shape& frame,
                                         const std::stop_token& stop);

/// Makes a detector for frames of this shape, with its region and background picture read from their files.
/// `with_masks` keeps the foreground masks for the caller. Throws as MotionDetector and open_source() do, and
/// Error{usage} if a picture has another size. `executor` must outlive the detector.
std::unique_ptr<FrameDetector> make_detector(const DetectorOptions& options, const Shape& frame, Executor& executor,
                                             const std::stop_token& stop, bool with_masks = false);

}  // namespace framewire::session
