#pragma once

#include "framewire/pipeline/source.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {

/// A setting of a camera: brightness, exposure ...
struct CameraControl {
    enum class Type { integer, boolean, menu, button };

    std::uint32_t id = 0;
    std::string name;  ///< as the driver has it: "Brightness"
    Type type = Type::integer;
    std::int64_t minimum = 0;
    std::int64_t maximum = 0;
    std::int64_t step = 1;
    std::int64_t default_value = 0;
    std::int64_t value = 0;
    bool writable = true;                                      ///< not read-only and not taken over by another control
    std::vector<std::pair<std::int64_t, std::string>> menu{};  ///< values and their names
};

/// A picture size a camera gives in one pixel format, and its rates, the highest first.
struct CameraSize {
    int width_px = 0;
    int height_px = 0;
    std::vector<Rational> rates;
};

/// A pixel format of a camera: "MJPG", "YUYV", "NV12" ...
struct CameraFormat {
    std::string pixel_format;
    std::string description;
    std::vector<CameraSize> sizes;
};

/// A V4L2 camera with all it can do.
struct Camera {
    std::string path;  ///< "/dev/video0"
    std::string name;
    std::string driver;
    std::vector<CameraFormat> formats;
    std::vector<CameraControl> controls;
};

/// An ioctl on one open device: 0, or the negative errno.
using DeviceControl = std::function<int(unsigned long request, void* argument)>;

/// A V4L2 device, opened to ask and to set; it can stream elsewhere at the same time. Not for threads at once.
class CameraDevice {
public:
    /// Throws Error{no_input} when it cannot be opened, or is no camera.
    explicit CameraDevice(const std::string& path);
    /// On a device someone else opened (or a test plays). Throws Error{no_input} when it is no camera.
    CameraDevice(std::string path, DeviceControl control);

    /// Asks for everything.
    Camera describe() const;

    /// Throws Error{config} when there is no such control or it cannot be read.
    std::int64_t control(std::uint32_t id) const;
    /// Throws Error{config} when there is no such control, it cannot be written, or the value is out of range.
    void set_control(std::uint32_t id, std::int64_t value) const;

private:
    void check_is_camera();
    std::vector<CameraFormat> formats() const;
    std::vector<CameraControl> controls() const;

    std::string path_;
    DeviceControl device_;
    std::string name_;
    std::string driver_;
};

/// The cameras of this machine, by their paths; those that cannot be opened are left out, with a debug message.
std::vector<Camera> list_cameras();

/// The pixel format to ask for: of those that are decoded here, the one with the highest rate at the size (any size
/// for 0x0) up to `rate`, and uncompressed before compressed. Empty when none gives that size.
std::string choose_pixel_format(const Camera& camera, int width_px, int height_px, double rate);

}  // namespace framewire
