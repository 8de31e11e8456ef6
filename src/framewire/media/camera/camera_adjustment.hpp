#pragma once

#include "framewire/filters/adjustment.hpp"
#include "framewire/media/camera/camera.hpp"
#include "framewire/pipeline/source.hpp"

#include <array>
#include <memory>
#include <optional>

namespace framewire {

/// The report's camera panel on a real camera (streaming report, section 5): brightness, contrast, saturation and gain
/// go to the camera's own controls as far as it has them, and the rest is left for the `adjust` filter. A setting that
/// changes nothing is the control's default; from there to a setting's ends, the control goes in even steps to its own.
/// Not for threads at once.
class CameraAdjustment {
public:
    /// Asks the camera for its controls. Those it has but does not let anyone write are left for software.
    explicit CameraAdjustment(CameraDevice device);

    /// Sets what the camera has; returns the settings with those changing nothing any more. A control that is where it
    /// should be is left alone. Throws Error{usage} on a setting that is not allowed, Error{config} when the camera
    /// does not take a value.
    Adjustment apply(const Adjustment& wanted);

private:
    struct Control {
        CameraControl info;
        std::optional<std::int64_t> set{};  // what this object has set it to
    };

    void set(Control& control, double setting, double least, double neutral, double most);

    CameraDevice device_;
    std::array<std::optional<Control>, 4> controls_;  // brightness, contrast, saturation, gain
};

/// `source` with its set_adjustment() going to the camera it reads from.
std::unique_ptr<Source> with_camera_controls(std::unique_ptr<Source> source, CameraDevice device);

}  // namespace framewire
