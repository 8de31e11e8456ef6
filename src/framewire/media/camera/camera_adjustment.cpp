// Maps the four settings of an Adjustment to V4L2 controls:
//
//    setting     least  neutral  most      control
//    brightness  -255      0      255      V4L2_CID_BRIGHTNESS
//    contrast       0      1        4      V4L2_CID_CONTRAST
//    saturation     0      1        4      V4L2_CID_SATURATION
//    gain           0      1        8      V4L2_CID_GAIN
//                  min  default   max      value of the control

#include "framewire/media/camera/camera_adjustment.hpp"

#include "framewire/filters/adjust/adjust.hpp"

#include <linux/videodev2.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <utility>

namespace framewire {
namespace {

// In the order of CameraAdjustment::controls_.
constexpr std::uint32_t control_ids[] = {V4L2_CID_BRIGHTNESS, V4L2_CID_CONTRAST, V4L2_CID_SATURATION, V4L2_CID_GAIN};

// Maps a setting linearly to the control's range, separately below and above the neutral value, and rounds to one of
// the control's steps.
std::int64_t value_for(const CameraControl& control, double setting, double least, double neutral, double most) {
    const auto from = static_cast<double>(control.default_value);
    const double share =
        setting < neutral ? (setting - neutral) / (neutral - least) : (setting - neutral) / (most - neutral);
    const auto end = static_cast<double>(setting < neutral ? control.minimum : control.maximum);
    const double value = from + std::abs(share) * (end - from);
    const auto step = std::max<std::int64_t>(control.step, 1);
    const auto steps = std::llround((value - static_cast<double>(control.minimum)) / static_cast<double>(step));
    const auto last = (control.maximum - control.minimum) / step;
    return control.minimum + std::clamp<std::int64_t>(steps, 0, last) * step;
}

// Source whose set_adjustment() first uses the camera's controls. The mutex serializes calls from several threads.
class CameraSource final : public Source {
public:
    CameraSource(std::unique_ptr<Source> source, CameraDevice device)
        : source_(std::move(source)), controls_(std::move(device)) {}

    const SourceInfo& info() const override { return source_->info(); }
    bool read(HostView<std::uint8_t> image, FrameTime& time) override { return source_->read(image, time); }
    bool take_new_size() override { return source_->take_new_size(); }
    bool is_at_new_size() const override { return source_->is_at_new_size(); }
    Adjustment set_adjustment(const Adjustment& wanted) override {
        const std::lock_guard lock(mutex_);
        return controls_.apply(wanted);
    }

private:
    std::unique_ptr<Source> source_;
    std::mutex mutex_;
    CameraAdjustment controls_;
};

}  // namespace

// A control is used only if it is a writable integer with a non-empty range that contains its default.
CameraAdjustment::CameraAdjustment(CameraDevice device) : device_(std::move(device)) {
    for (const auto& control : device_.describe().controls) {
        const auto* found = std::find(std::begin(control_ids), std::end(control_ids), control.id);
        const bool serves = control.type == CameraControl::Type::integer && control.writable &&
                            control.minimum < control.maximum && control.default_value >= control.minimum &&
                            control.default_value <= control.maximum;
        if (found != std::end(control_ids) && serves)
            controls_[static_cast<std::size_t>(found - std::begin(control_ids))] = Control{control};
    }
}

void CameraAdjustment::set(Control& control, double setting, double least, double neutral, double most) {
    // The neutral setting maps to the default itself, which may lie between steps.
    const auto value =
        setting == neutral ? control.info.default_value : value_for(control.info, setting, least, neutral, most);
    if (control.set.value_or(control.info.value) == value) return;
    device_.set_control(control.info.id, value);
    control.set = value;
}

Adjustment CameraAdjustment::apply(const Adjustment& wanted) {
    adjust_terms(wanted);  // rejects invalid settings before anything is written
    auto rest = wanted;
    auto& [brightness, contrast, saturation, gain] = controls_;
    if (brightness) set(*brightness, std::exchange(rest.brightness, 0), -255, 0, 255);
    if (contrast) set(*contrast, std::exchange(rest.contrast, 1), 0, 1, 4);
    if (saturation) set(*saturation, std::exchange(rest.saturation, 1), 0, 1, 4);
    if (gain) set(*gain, std::exchange(rest.gain, 1), 0, 1, 8);
    return rest;
}

std::unique_ptr<Source> with_camera_controls(std::unique_ptr<Source> source, CameraDevice device) {
    return std::make_unique<CameraSource>(std::move(source), std::move(device));
}

}  // namespace framewire
