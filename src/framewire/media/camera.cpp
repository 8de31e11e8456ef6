#include "framewire/media/camera.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/adjust.hpp"
#include "framewire/media/sources.hpp"

#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

// V4L2 cameras. Everything a driver reports is treated with caution: strings may lack a terminator, enumerations may
// never end, and controls may have impossible values. All ioctls go through DeviceControl, which tests replace.

namespace framewire {
namespace {

// Upper limits for enumerations: a driver that lists more than this is assumed to loop.
constexpr std::uint32_t most_entries = 256;
constexpr std::uint32_t most_controls = 1024;

// Returns the text in a fixed-size field, which may lack the terminating zero.
template <std::size_t bytes>
std::string text_of(const std::uint8_t (&field)[bytes]) {
    const auto* begin = reinterpret_cast<const char*>(field);
    return {begin, std::find(begin, begin + bytes, '\0')};
}

// Returns the FourCC of a pixel format as text, without trailing spaces.
std::string four_letters(std::uint32_t code) {
    std::string text;
    for (int byte = 0; byte < 4; ++byte) text += static_cast<char>(code >> (8 * byte) & 0x7f);
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

// Returns the frame rate for a frame interval, which is what V4L2 reports. Nullopt if a faulty driver reports an
// interval of zero.
std::optional<Rational> rate_of(const v4l2_fract& interval) {
    if (interval.numerator == 0 || interval.denominator == 0) return std::nullopt;
    return Rational{interval.denominator, interval.numerator};
}

// Returns the frame rates for one format and size, highest first. A continuous or stepwise range is represented by its
// two limits.
std::vector<Rational> rates(const DeviceControl& device, std::uint32_t pixel_format, int width, int height) {
    std::vector<Rational> found;
    for (std::uint32_t index = 0; index < most_entries; ++index) {
        v4l2_frmivalenum query{};
        query.index = index;
        query.pixel_format = pixel_format;
        query.width = static_cast<std::uint32_t>(width);
        query.height = static_cast<std::uint32_t>(height);
        if (device(VIDIOC_ENUM_FRAMEINTERVALS, &query) != 0) break;
        if (query.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
            if (const auto rate = rate_of(query.discrete)) found.push_back(*rate);
            continue;
        }
        // The driver reports a range: list only its limits.
        if (const auto rate = rate_of(query.stepwise.min)) found.push_back(*rate);
        if (const auto rate = rate_of(query.stepwise.max)) found.push_back(*rate);
        break;
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.value() > b.value(); });
    return found;
}

// Returns the frame sizes for one format, each with its rates. Sizes beyond max_side_px are skipped.
std::vector<CameraSize> sizes(const DeviceControl& device, std::uint32_t pixel_format) {
    std::vector<CameraSize> found;
    const auto add = [&](std::uint32_t width, std::uint32_t height) {
        if (width < 1 || width > max_side_px || height < 1 || height > max_side_px) return;
        const int w = static_cast<int>(width);
        const int h = static_cast<int>(height);
        found.push_back({w, h, rates(device, pixel_format, w, h)});
    };
    for (std::uint32_t index = 0; index < most_entries; ++index) {
        v4l2_frmsizeenum query{};
        query.index = index;
        query.pixel_format = pixel_format;
        if (device(VIDIOC_ENUM_FRAMESIZES, &query) != 0) break;
        if (query.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
            add(query.discrete.width, query.discrete.height);
            continue;
        }
        // The driver reports a range: list the common sizes in it and its largest size.
        const auto& range = query.stepwise;
        constexpr std::pair<std::uint32_t, std::uint32_t> usual[] = {
            {320, 240}, {640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}};
        for (const auto& [width, height] : usual)
            if (width >= range.min_width && width < range.max_width && height >= range.min_height &&
                height < range.max_height)
                add(width, height);
        add(range.max_width, range.max_height);
        break;
    }
    return found;
}

// Returns the type of a control; nullopt for headings and for types whose value is not a single number.
std::optional<CameraControl::Type> type_of(std::uint32_t type) {
    switch (type) {
        case V4L2_CTRL_TYPE_INTEGER: return CameraControl::Type::integer;
        case V4L2_CTRL_TYPE_BOOLEAN: return CameraControl::Type::boolean;
        case V4L2_CTRL_TYPE_MENU:
        case V4L2_CTRL_TYPE_INTEGER_MENU: return CameraControl::Type::menu;
        case V4L2_CTRL_TYPE_BUTTON: return CameraControl::Type::button;
        default: return std::nullopt;  // headings, and types whose value is not a number
    }
}

// Pixel formats that this program can decode. At equal rates, earlier ones are preferred: uncompressed before
// compressed.
constexpr std::string_view decoded_formats[] = {"YUYV", "NV12", "YU12", "UYVY", "BGR3", "GREY", "MJPG", "JPEG"};

}  // namespace

CameraDevice::CameraDevice(const std::string& path) : path_(path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) fail(ErrorCode::no_input, "cannot open the camera {}: {}", path, std::strerror(errno));
    const std::shared_ptr<const int> open(new int(descriptor), [](const int* number) {
        ::close(*number);
        delete number;
    });
    // All copies of the function share the descriptor; the last one closes it. A signal may interrupt the ioctl.
    device_ = [open](unsigned long request, void* argument) {
        int result = 0;
        do result = ::ioctl(*open, request, argument);
        while (result < 0 && errno == EINTR);
        return result < 0 ? -errno : 0;
    };
    check_is_camera();
}

CameraDevice::CameraDevice(std::string path, DeviceControl control)
    : path_(std::move(path)), device_(std::move(control)) {
    check_is_camera();
}

// Reads the device's name and driver. A device with V4L2_CAP_DEVICE_CAPS states the capabilities of this node in
// `device_caps`; its `capabilities` cover all nodes, some of which deliver only metadata.
void CameraDevice::check_is_camera() {
    v4l2_capability capability{};
    if (const int error = device_(VIDIOC_QUERYCAP, &capability); error != 0)
        fail(ErrorCode::no_input, "{} is not a video device: {}", path_, std::strerror(-error));
    const auto can = capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps : capability.capabilities;
    if (!(can & V4L2_CAP_VIDEO_CAPTURE)) fail(ErrorCode::no_input, "{} is a video device but not a camera", path_);
    name_ = text_of(capability.card);
    driver_ = text_of(capability.driver);
}

Camera CameraDevice::describe() const { return {path_, name_, driver_, formats(), controls()}; }

std::vector<CameraFormat> CameraDevice::formats() const {
    std::vector<CameraFormat> found;
    for (std::uint32_t index = 0; index < most_entries; ++index) {
        v4l2_fmtdesc query{};
        query.index = index;
        query.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        if (device_(VIDIOC_ENUM_FMT, &query) != 0) break;
        found.push_back(
            {four_letters(query.pixelformat), text_of(query.description), sizes(device_, query.pixelformat)});
    }
    return found;
}

// Enumerates the controls with V4L2_CTRL_FLAG_NEXT_CTRL, which returns the control with the next larger id.
std::vector<CameraControl> CameraDevice::controls() const {
    std::vector<CameraControl> found;
    v4l2_queryctrl query{};
    for (std::uint32_t count = 0; count < most_controls; ++count) {
        const auto before = query.id;
        query.id |= V4L2_CTRL_FLAG_NEXT_CTRL;
        // Stop if the ids do not increase: with such a driver the loop would never end.
        if (device_(VIDIOC_QUERYCTRL, &query) != 0 || query.id <= before) break;
        const auto type = type_of(query.type);
        if (!type || query.flags & V4L2_CTRL_FLAG_DISABLED) continue;
        CameraControl control{query.id,   text_of(query.name), *type, query.minimum, query.maximum,
                              query.step, query.default_value};
        control.writable =
            !(query.flags & (V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_INACTIVE | V4L2_CTRL_FLAG_GRABBED));
        v4l2_control value{query.id, 0};
        if (control.type != CameraControl::Type::button && device_(VIDIOC_G_CTRL, &value) == 0)
            control.value = value.value;
        if (control.type == CameraControl::Type::menu) {
            const auto last = std::min<std::int64_t>(query.maximum, std::int64_t{query.minimum} + most_entries);
            for (std::int64_t index = std::max(0, query.minimum); index <= last; ++index) {
                v4l2_querymenu item{};
                item.id = query.id;
                item.index = static_cast<std::uint32_t>(index);
                if (device_(VIDIOC_QUERYMENU, &item) != 0) continue;  // menus may have gaps
                const bool number = query.type == V4L2_CTRL_TYPE_INTEGER_MENU;
                // The struct is packed, so a reference to its member is not allowed: copy the number.
                const std::int64_t item_value = number ? item.value : 0;
                control.menu.emplace_back(index, number ? fmt::format("{}", item_value) : text_of(item.name));
            }
        }
        found.push_back(std::move(control));
    }
    return found;
}

std::int64_t CameraDevice::control(std::uint32_t id) const {
    v4l2_control value{id, 0};
    if (const int error = device_(VIDIOC_G_CTRL, &value); error != 0)
        fail(ErrorCode::config, "{}: cannot read control {:#x}: {}", path_, id, std::strerror(-error));
    return value.value;
}

void CameraDevice::set_control(std::uint32_t id, std::int64_t value) const {
    v4l2_queryctrl query{};
    query.id = id;
    if (const int error = device_(VIDIOC_QUERYCTRL, &query); error != 0)
        fail(ErrorCode::config, "{} has no control {:#x}: {}", path_, id, std::strerror(-error));
    if (query.type != V4L2_CTRL_TYPE_BUTTON && (value < query.minimum || value > query.maximum))
        fail(ErrorCode::config, "{}: {} = {}; allowed: {} to {}", path_, text_of(query.name), value, query.minimum,
             query.maximum);
    v4l2_control wanted{id, static_cast<std::int32_t>(value)};
    if (const int error = device_(VIDIOC_S_CTRL, &wanted); error != 0)
        fail(ErrorCode::config, "{}: cannot set {} to {}: {}", path_, text_of(query.name), value,
             std::strerror(-error));
}

std::vector<Camera> list_cameras() {
    std::vector<std::string> paths;
    std::error_code error;
    // V4L2 devices are /dev/videoN.
    for (std::filesystem::directory_iterator entry("/dev", error), end; !error && entry != end; entry.increment(error))
        if (entry->path().filename().string().starts_with("video")) paths.push_back(entry->path().string());
    // Sort by length first: video2 before video10.
    std::sort(paths.begin(), paths.end(),
              [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
    std::vector<Camera> cameras;
    for (const auto& path : paths) {
        try {
            cameras.push_back(CameraDevice(path).describe());
        } catch (const Error& problem) {
            log_debug("{}", problem.what());
        }
    }
    return cameras;
}

std::string choose_pixel_format(const Camera& camera, int width_px, int height_px, double rate) {
    std::string chosen;
    double best = -1;
    for (const auto preferred : decoded_formats) {
        for (const auto& format : camera.formats) {
            if (format.pixel_format != preferred) continue;
            for (const auto& size : format.sizes) {
                if (width_px && (size.width_px != width_px || size.height_px != height_px)) continue;
                const double highest = size.rates.empty() ? 0 : size.rates.front().value();
                // Rates that differ by less than 1 % count as equal, so 29.97 satisfies a request for 30.
                const double useful = std::min(highest, rate * 0.99);
                if (useful > best) {
                    best = useful;
                    chosen = format.pixel_format;
                }
            }
        }
    }
    return chosen;
}

}  // namespace framewire

// Maps the four settings of an Adjustment to V4L2 controls:
//
//    setting     least  neutral  most      control
//    brightness  -255      0      255      V4L2_CID_BRIGHTNESS
//    contrast       0      1        4      V4L2_CID_CONTRAST
//    saturation     0      1        4      V4L2_CID_SATURATION
//    gain           0      1        8      V4L2_CID_GAIN
//                  min  default   max      value of the control

namespace framewire {
namespace {

// V4L2 ids of the controls, in the order of CameraAdjustment::controls_.
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

// Source whose set_adjustment() changes the camera's controls first and passes the rest to the wrapped source. The
// mutex serializes calls from several threads.
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

// The source kind for V4L2 cameras: FFmpeg reads the frames, and CameraDevice controls the picture.

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/camera.hpp"
#include "framewire/media/ffmpeg/source.hpp"
#include "framewire/media/media.hpp"
#endif

namespace framewire {
namespace {

#ifdef FRAMEWIRE_FFMPEG

// Returns libavdevice's name of a V4L2 pixel format.
std::string device_format(std::string_view four_letters) {
    if (four_letters == "MJPG" || four_letters == "JPEG") return "mjpeg";
    if (four_letters == "YUYV") return "yuyv422";
    if (four_letters == "UYVY") return "uyvy422";
    if (four_letters == "YU12") return "yuv420p";
    if (four_letters == "BGR3") return "bgr24";
    if (four_letters == "GREY") return "gray";
    return lower_case(four_letters);
}

// Opens the camera twice: with FFmpeg to stream, and as a CameraDevice for its controls.
std::unique_ptr<Source> open_camera(const SourceCall& call, const SourceOptions& options) {
    const auto& values = call.values;
    const auto [width, height] =
        values.has("size") ? values.size("size") : std::pair{options.width_px, options.height_px};
    const auto rate = values.has("fps") ? std::optional(values.rate("fps")) : options.rate;
    auto format = values.has("format") ? values.text("format") : "";
    if (format == "yuyv") format = "yuyv422";
    CameraDevice device(call.path);
    if (format.empty()) {
        // If no format is requested, libavdevice chooses an uncompressed one, even if the bus limits it to 5 frames per
        // second.
        const auto chosen =
            choose_pixel_format(device.describe(), width, height, rate.value_or(Rational{30, 1}).value());
        format = device_format(chosen);
    }
    FfmpegAddress camera{call.text, call.path, "video4linux2", FfmpegAddress::Kind::camera};
    if (width > 0) camera.options.emplace_back("video_size", fmt::format("{}x{}", width, height));
    if (rate) camera.options.emplace_back("framerate", fmt::format("{}/{}", rate->numerator, rate->denominator));
    if (!format.empty()) camera.options.emplace_back("input_format", format);
    return with_camera_controls(open_ffmpeg_source(std::move(camera), options), std::move(device));
}

#else

constexpr auto open_camera = nullptr;

#endif

}  // namespace

// Returns the source kind for cameras; `open` is null in a build without FFmpeg.
SourceKind camera_source() {
    using Type = ParameterInfo::Type;
    return {.name = "camera",
            .form = "/dev/videoN or v4l2:DEVICE, both with :KEY=VALUE...",
            .summary = "a camera (V4L2: MJPEG, YUYV, NV12)",
            .prefix = "v4l2:",
            .parameters = {{.name = "size",
                            .help = "frame size; default: the camera's current size",
                            .type = Type::size,
                            .minimum = 1,
                            .maximum = max_side_px,
                            .optional = true},
                           {.name = "fps",
                            .help = "frame rate requested from the camera; default: its current rate",
                            .type = Type::rate,
                            .optional = true},
                           {.name = "format",
                            .help = "pixel format of the frames; default: a format that reaches the frame rate",
                            .type = Type::choice,
                            .choices = {"mjpeg", "yuyv", "nv12"},
                            .optional = true}},
            .examples = {"/dev/video0", "v4l2:/dev/video0:size=1280x720:fps=30:format=mjpeg"},
            .has_path = true,
            .may_be_away = true,
            .matches = [](const std::string& text) { return text.starts_with("/dev/video"); },
            .open = open_camera};
}

}  // namespace framewire
