#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/detect/masks/mask_region.hpp"
#include "framewire/detect/steps/detector_steps.hpp"
#include "framewire/media/media.hpp"
#include "framewire/session/detector_options.hpp"
#include "framewire/session/outputs/video_output.hpp"
#include "framewire/session/steps/detect_steps_options.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace framewire::session {

/// Writes each step of a detector as a video or a sequence of images. The steps are computed again on the CPU.
class DetectSteps {
public:
    /// Opens all outputs. Throws as make_detector() and open_sink() do.
    DetectSteps(const DetectStepsOptions& options, const DetectorOptions& detector, const Shape& frame, Rational rate,
                int threads, const SinkOptions& sinks, const std::stop_token& stop);

    /// Writes the steps of one frame, given as the detector gets it.
    void write(HostView<const std::uint8_t> frame, const FrameTime& time);
    /// Completes all outputs. Throws the first error.
    void finish(Ending ending);
    /// Bytes written so far.
    std::int64_t bytes() const;

private:
    Executor executor_;
    std::optional<MaskRegion> region_;
    DetectorSteps steps_;
    // one per step, in the same order
    std::vector<VideoOutput> videos_;
};

}  // namespace framewire::session
