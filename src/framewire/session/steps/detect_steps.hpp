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

/// A video, or a sequence of images, of each step of a detector. The steps are found anew on the CPU.
class DetectSteps {
public:
    /// Throws as make_detector() and open_sink() do.
    DetectSteps(const DetectStepsOptions& options, const DetectorOptions& detector, const Shape& frame, Rational rate,
                int threads, const SinkOptions& sinks, const std::stop_token& stop);

    /// The next frame, as the detector gets it.
    void write(HostView<const std::uint8_t> frame, const FrameTime& time);
    void finish(Ending ending);
    std::int64_t bytes() const;

private:
    Executor executor_;
    std::optional<MaskRegion> region_;
    DetectorSteps steps_;
    std::vector<VideoOutput> videos_;  // in the order of the steps
};

}  // namespace framewire::session
