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

/// What a detector of these parameters does one after the other: `gray`, `blur`, `background`, `difference`,
/// `threshold`, `morphology` and `labels`. A mixture takes frames as they are: it has no `gray`, `blur` and
/// `difference`. Where the morphology is none, it is left out.
std::vector<std::string_view> detector_step_names(const DetectorParameters& parameters);

/// One step's picture: 1 channel, or 3 of `labels` and of a mixture's `background` where frames have 3.
struct DetectorStep {
    std::string_view name;
    HostImage picture;
};

/// Colours the objects of a frame by their numbers, and what is in the label image beside them, too small or too large,
/// in dark gray: the same colour for a number whenever it comes. `labels`: as of LabelImages; `picture`: one frame of
/// 3 channels, any strides.
void draw_labels(std::span<const std::int32_t> labels, std::span<const Component> objects,
                 HostView<std::uint8_t> picture);

/// Pictures of all steps of a detector, for people to look at: those of a MotionDetector of its own on the CPU, whose
/// masks are the same bytes on every backend.
class DetectorSteps {
public:
    /// `frame`: of one frame, 1 or 3 channels. `executor` is of the CPU. Throws as MotionDetector does, and
    /// Error{internal} on another executor.
    DetectorSteps(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                  const MaskRegion* region = nullptr);
    ~DetectorSteps();
    DetectorSteps(DetectorSteps&&) noexcept;

    /// See MotionDetector.
    void set_background(HostView<const std::uint8_t> picture) { detector_.set_background(picture); }
    /// The next frame, in the order of time; any strides.
    void run(HostView<const std::uint8_t> frame);
    /// Of the last frame, in the order of detector_step_names(); before the first of no defined content.
    std::span<const DetectorStep> steps() const { return steps_; }

private:
    HostView<std::uint8_t> picture_of(std::string_view name);

    Executor* executor_;
    MotionDetector detector_;
    ComponentLabelling labelling_;
    HostComponents components_;
    HostBuffer labels_;
    std::optional<Foreground> blurring_;  // not of a mixture
    std::vector<DetectorStep> steps_;
};

}  // namespace framewire
