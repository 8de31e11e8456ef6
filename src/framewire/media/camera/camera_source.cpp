// The source kind for V4L2 cameras: FFmpeg reads the frames, and CameraDevice controls the picture.

#include "framewire/core/error.hpp"
#include "framewire/core/view.hpp"
#include "framewire/media/sources/source_kind.hpp"

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/camera/camera.hpp"
#include "framewire/media/camera/camera_adjustment.hpp"
#include "framewire/media/ffmpeg/input/source.hpp"
#include "framewire/media/names.hpp"
#endif

#include <optional>
#include <utility>

namespace framewire {
namespace {

#ifdef FRAMEWIRE_FFMPEG

// Name that libavdevice uses for a V4L2 pixel format.
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
        // Without a format, libavdevice chooses an uncompressed one, even if the bus limits it to 5 frames per second.
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

// The table entry for cameras; `open` is null in a build without FFmpeg.
SourceKind camera_source() {
    using Type = ParameterInfo::Type;
    return {.name = "camera",
            .form = "/dev/videoN or v4l2:DEVICE, both with :KEY=VALUE...",
            .summary = "a camera (V4L2: MJPEG, YUYV, NV12)",
            .prefix = "v4l2:",
            .parameters = {{.name = "size",
                            .help = "of its pictures; without, as the camera has it",
                            .type = Type::size,
                            .minimum = 1,
                            .maximum = max_side_px,
                            .optional = true},
                           {.name = "fps",
                            .help = "asked of the camera; without, as it has it",
                            .type = Type::rate,
                            .optional = true},
                           {.name = "format",
                            .help = "in which they come; without, one that reaches the rate",
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
