#pragma once

#include "framewire/filters/adjustment.hpp"
#include "framewire/media/camera/camera.hpp"
#include "framewire/pipeline/source.hpp"

#include <array>
#include <memory>
#include <optional>

namespace framewire {

/// Applies an Adjustment to a real camera (streaming report, section 5): brightness, contrast, saturation and gain go
/// to the camera's own controls where it has them; the rest is left to the `adjust` filter. The neutral value of a
/// setting maps to the control's default, and from there the control moves linearly to its own limits as the setting
/// moves to its limits. Not thread-safe.
class CameraAdjustment {
public:
    /// Queries the camera's controls. Controls that are not writable are left to software.
    explicit CameraAdjustment(CameraDevice device);

    /// Sets the controls that the camera has and returns `wanted` with those settings neutral. A control that already
    /// has its value is not written. Throws Error{usage} if a setting is out of range, Error{config} if the camera
    /// rejects a value.
    Adjustment apply(const Adjustment& wanted);

private:
    struct Control {
        CameraControl info;
        std::optional<std::int64_t> set{};  // what this object has set it to
    };                                      // the value that this object last wrote

    // Writes a setting to a control, unless it already has the value.
    void set(Control& control, double setting, double least, double neutral, double most);

    CameraDevice device_;
    std::array<std::optional<Control>, 4> controls_;  // brightness, contrast, saturation, gain
};

/// Wraps `source` so that set_adjustment() goes to the camera that it reads from.
std::unique_ptr<Source> with_camera_controls(std::unique_ptr<Source> source, CameraDevice device);

}  // namespace framewire
