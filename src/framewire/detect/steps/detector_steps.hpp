#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/foreground/foreground.hpp"
#include "framewire/detect/labelling/components.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace framewire {

class MaskRegion;

/// Returns the names of the steps of a detector in order: `gray`, `blur`, `background`, `difference`,
/// `threshold`, `morphology` and `labels`. A mixture uses frames as they are and has no `gray`, `blur` and
/// `difference`. `morphology` is missing if it is none.
std::vector<std::string_view> detector_step_names(const DetectorParameters& parameters);

/// The picture of one step: 1 channel, or 3 for `labels`, and for the `background` of a mixture if the frames
/// have 3.
struct DetectorStep {
    std::string_view name;
    HostImage picture;
};

/// Colours the objects of a frame by their numbers, the same colour whenever a number occurs, and components
/// that are too small or too large in dark gray. `labels` is as in LabelImages; `picture` is one frame of 3
/// channels with any strides.
void draw_labels(std::span<const std::int32_t> labels, std::span<const Component> objects,
                 HostView<std::uint8_t> picture);

/// Makes pictures of all steps of a detector, for people to look at. It runs its own MotionDetector on the CPU,
/// whose masks are the same bytes as on any backend.
class DetectorSteps {
public:
    /// `frame` has one frame and 1 or 3 channels. Throws what MotionDetector throws, and Error{internal} unless
    /// `executor` uses the CPU backend.
    DetectorSteps(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                  const MaskRegion* region = nullptr);
    ~DetectorSteps();
    DetectorSteps(DetectorSteps&&) noexcept;

    /// See MotionDetector::set_background().
    void set_background(HostView<const std::uint8_t> picture) { detector_.set_background(picture); }
    /// Processes the next frame in the order of time; any strides.
    void run(HostView<const std::uint8_t> frame);
    /// Returns the pictures of the last frame, in the order of detector_step_names(). Undefined before the
    /// first frame.
    std::span<const DetectorStep> steps() const { return steps_; }

private:
    HostView<std::uint8_t> picture_of(std::string_view name);

    Executor* executor_;
    MotionDetector detector_;
    ComponentLabelling labelling_;
    HostComponents components_;
    HostBuffer labels_;
    std::optional<Foreground> blurring_;  // empty for a mixture
    std::vector<DetectorStep> steps_;
};

}  // namespace framewire
