#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/plan/source.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {

/// Control of a V4L2 camera, for example its brightness or exposure.
struct CameraControl {
    /// Value type of a control; a button has no value.
    enum class Type { integer, boolean, menu, button };

    std::uint32_t id = 0;
    std::string name;  ///< name that the driver reports, for example "Brightness"
    Type type = Type::integer;
    std::int64_t minimum = 0;
    std::int64_t maximum = 0;
    std::int64_t step = 1;
    std::int64_t default_value = 0;
    std::int64_t value = 0;
    bool writable = true;                                      ///< neither read-only nor overridden by another control
    std::vector<std::pair<std::int64_t, std::string>> menu{};  ///< menu entries: values and their names
};

/// Frame size that a camera supports in one pixel format, with its frame rates, highest first.
struct CameraSize {
    int width_px = 0;
    int height_px = 0;
    std::vector<Rational> rates;
};

/// Pixel format of a camera: "MJPG", "YUYV", "NV12" ...
struct CameraFormat {
    std::string pixel_format;
    std::string description;
    std::vector<CameraSize> sizes;
};

/// V4L2 camera with its formats and controls.
struct Camera {
    std::string path;  ///< "/dev/video0"
    std::string name;
    std::string driver;
    std::vector<CameraFormat> formats;
    std::vector<CameraControl> controls;
};

/// Function that performs an ioctl on one open device and returns 0 or the negative errno.
using DeviceControl = std::function<int(unsigned long request, void* argument)>;

/// Open V4L2 device for queries and controls; another descriptor of the device may stream at the same time. Not
/// thread-safe.
class CameraDevice {
public:
    /// Opens the device at `path`. Throws Error{no_input} if it cannot be opened or is not a camera.
    explicit CameraDevice(const std::string& path);
    /// Uses a device that the caller opened (or that a test simulates). Throws Error{no_input} if it is not a camera.
    CameraDevice(std::string path, DeviceControl control);

    /// Queries all formats and controls.
    Camera describe() const;

    /// Reads a control. Throws Error{config} if it does not exist or cannot be read.
    std::int64_t control(std::uint32_t id) const;
    /// Sets a control. Throws Error{config} if it does not exist, cannot be written, or the value is out of range.
    void set_control(std::uint32_t id, std::int64_t value) const;

private:
    // Reads name and driver; throws if the device does not capture video.
    void check_is_camera();
    // Returns the formats that the driver enumerates.
    std::vector<CameraFormat> formats() const;
    // Returns the controls with their current values.
    std::vector<CameraControl> controls() const;

    std::string path_;
    DeviceControl device_;
    std::string name_;
    std::string driver_;
};

/// Returns the cameras of this machine, sorted by path; those that cannot be opened are skipped with a debug message.
std::vector<Camera> list_cameras();

/// Chooses the pixel format to request: among the formats that can be decoded here, the one with the highest rate up to
/// `rate` at the size (0x0: any size), preferring uncompressed formats. Empty if no format has that size.
std::string choose_pixel_format(const Camera& camera, int width_px, int height_px, double rate);

/// Applies an Adjustment to a real camera (streaming report, section 5): brightness, contrast, saturation and gain go
/// to the camera's own controls if it has them; the `adjust` filter does the rest. The neutral value of a setting maps
/// to the control's default, and from there the control moves linearly to its own limits as the setting moves to its
/// limits. Not thread-safe.
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
        std::optional<std::int64_t> set{};  // value that this object last wrote
    };

    // Writes a setting to a control, unless it already has the value.
    void set(Control& control, double setting, double least, double neutral, double most);

    CameraDevice device_;
    std::array<std::optional<Control>, 4> controls_;  // brightness, contrast, saturation, gain
};

/// Wraps `source` so that set_adjustment() controls the camera that it reads from.
std::unique_ptr<Source> with_camera_controls(std::unique_ptr<Source> source, CameraDevice device);

}  // namespace framewire
