#include "framewire/media/media.hpp"

#include "framewire/core/credentials.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/image_folder.hpp"
#include "framewire/media/looping_source.hpp"
#include "framewire/media/names.hpp"
#include "framewire/media/parameters.hpp"
#include "framewire/media/png.hpp"
#include "framewire/media/raw.hpp"
#include "framewire/media/sequence.hpp"
#include "framewire/media/synth/source.hpp"
#include "framewire/media/y4m.hpp"

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/camera.hpp"
#include "framewire/media/camera_adjustment.hpp"
#include "framewire/media/ffmpeg/limits.hpp"
#include "framewire/media/ffmpeg/sink.hpp"
#include "framewire/media/ffmpeg/source.hpp"

#include <spdlog/spdlog.h>
#endif

#include <filesystem>
#include <string_view>
#include <system_error>

namespace framewire {
namespace {

bool is_url(std::string_view text) { return text.find("://") != std::string_view::npos; }

// Whether a source is no file but the network's, a camera or FFmpeg's own.
bool is_elsewhere(std::string_view text) {
    return is_url(text) || text.starts_with("lavfi:") || text.starts_with("v4l2:") || text.starts_with("/dev/video");
}

// What is behind a prefix of a source's text, like "raw:".
bool take_prefix(std::string_view text, std::string_view prefix, std::string_view& rest) {
    if (!text.starts_with(prefix)) return false;
    rest = text.substr(prefix.size());
    return true;
}

#ifdef FRAMEWIRE_FFMPEG

std::unique_ptr<Source> open_with_ffmpeg(const std::string& path, const SourceOptions& options) {
    return open_ffmpeg_source({path, "file:" + path, "", FfmpegAddress::Kind::file, contents_of(path)}, options);
}

// libavdevice's names of V4L2's pixel formats.
std::string device_format(std::string_view four_letters) {
    if (four_letters == "MJPG" || four_letters == "JPEG") return "mjpeg";
    if (four_letters == "YUYV") return "yuyv422";
    if (four_letters == "UYVY") return "uyvy422";
    if (four_letters == "YU12") return "yuv420p";
    if (four_letters == "BGR3") return "bgr24";
    if (four_letters == "GREY") return "gray";
    return lower_case(four_letters);
}

std::unique_ptr<Source> open_camera(const std::string& text, std::string_view address, const SourceOptions& options) {
    const auto [path, parameters] = Parameters::after_path("v4l2", address, {"size", "fps", "format"});
    auto [width, height] = parameters.size("size").value_or(std::pair{options.width_px, options.height_px});
    auto rate = options.rate;
    if (parameters.text("fps")) rate = parameters.rate("fps", {});
    auto format = parameters.choice("format", "", {"mjpeg", "yuyv", "nv12"});
    if (format == "yuyv") format = "yuyv422";
    CameraDevice device(path);
    if (format.empty()) {
        // Left to itself libavdevice takes an uncompressed format, at 5 frames a second where the bus gives no more.
        const auto chosen =
            choose_pixel_format(device.describe(), width, height, rate.value_or(Rational{30, 1}).value());
        format = device_format(chosen);
    }
    FfmpegAddress camera{text, path, "video4linux2", FfmpegAddress::Kind::camera};
    if (width > 0) camera.options.emplace_back("video_size", fmt::format("{}x{}", width, height));
    if (rate) camera.options.emplace_back("framerate", fmt::format("{}/{}", rate->numerator, rate->denominator));
    if (!format.empty()) camera.options.emplace_back("input_format", format);
    return with_camera_controls(open_ffmpeg_source(std::move(camera), options), std::move(device));
}

std::unique_ptr<Source> open_elsewhere(const std::string& text, const SourceOptions& options) {
    std::string_view rest;
    const auto name = without_credentials(text);
    if (take_prefix(text, "lavfi:", rest))
        return open_ffmpeg_source({name, std::string(rest), "lavfi", FfmpegAddress::Kind::generator}, options);
    if (take_prefix(text, "v4l2:", rest)) return open_camera(text, rest, options);
    if (text.starts_with("/dev/video")) return open_camera(text, text, options);
    return open_ffmpeg_source({name, text, "", FfmpegAddress::Kind::network}, options);
}

std::unique_ptr<Sink> open_sink_with_ffmpeg(const std::string& text, const Shape& frame, Rational rate,
                                            const SinkOptions& options) {
    return open_ffmpeg_sink(text, frame, rate, options);
}

EncodeImage jpeg_encoder(const std::string&) { return encode_jpeg; }

#else

[[noreturn]] void fail_without_ffmpeg(const std::string& text) {
    fail(ErrorCode::config, "{}: this build has no FFmpeg; it knows y4m, raw, PNG and the synthetic camera",
         without_credentials(text));
}

std::unique_ptr<Source> open_with_ffmpeg(const std::string& path, const SourceOptions&) { fail_without_ffmpeg(path); }
std::unique_ptr<Source> open_elsewhere(const std::string& text, const SourceOptions&) { fail_without_ffmpeg(text); }
std::unique_ptr<Sink> open_sink_with_ffmpeg(const std::string& text, const Shape&, Rational, const SinkOptions&) {
    fail_without_ffmpeg(text);
}
EncodeImage jpeg_encoder(const std::string& text) { fail_without_ffmpeg(text); }

#endif

std::unique_ptr<Source> open_image(const std::string& path, const SourceOptions& options) {
    if (lower_case(path).ends_with(".png")) return open_png_source(path, options);
    return open_with_ffmpeg(path, options);
}

std::unique_ptr<Source> open_path(const std::string& path, const SourceOptions& options) {
    std::error_code unknown;
    const auto status = std::filesystem::status(path, unknown);
    if (!std::filesystem::exists(status)) {
        if (const auto pattern = SequencePattern::parse(path))
            return open_sequence_source(path, *pattern, open_image, options);
        if (status.type() == std::filesystem::file_type::not_found)
            fail(ErrorCode::no_input, "{}: there is no such file", path);
        fail(ErrorCode::no_input, "cannot open {}: {}", path, unknown.message());
    }
    if (std::filesystem::is_directory(status)) return open_images_source(path, images_in(path), open_image, options);
    const auto lower = lower_case(path);
    // A named pipe is what standard input is: FFmpeg would wait for it where no stop reaches.
    if (lower.ends_with(".y4m") || std::filesystem::is_fifo(status)) return open_y4m_source(path, options);
    if (lower.ends_with(".bgr") || lower.ends_with(".gray"))
        fail(ErrorCode::usage, "{}: raw bytes do not say what they are; write raw:{}:size=WxH:fps=30", path, path);
    return open_image(path, options);
}

std::unique_ptr<Source> open_once(const std::string& text, const SourceOptions& options) {
    std::string_view rest;
    if (text == "-") return open_y4m_source(text, options);
    if (text == "synth") return open_synth_source("", options);
    if (take_prefix(text, "synth:", rest)) return open_synth_source(rest, options);
    if (take_prefix(text, "raw:", rest)) return open_raw_source(std::string(rest), options);
    if (take_prefix(text, "file://", rest)) return open_path(std::string(rest), options);
    if (is_elsewhere(text)) return open_elsewhere(text, options);
    return open_path(text, options);
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options) {
    if (text.empty()) fail(ErrorCode::usage, "the source is empty; a path, a URL, a camera, synth or - is needed");
    if (!options.loop) return open_once(text, options);
    if (text == "-") fail(ErrorCode::usage, "standard input cannot be read again: no loop");
    return make_looping_source(
        [text, options = SourceOptions(options)]() mutable {
            auto source = open_once(text, options);
            options.replace_truth = true;  // by the next pass's
            return source;
        },
        options.stop);
}

std::vector<std::string> files_read_by(const std::string& text) {
    std::string_view rest;
    if (take_prefix(text, "raw:", rest)) return {raw_path(rest)};
    if (take_prefix(text, "file://", rest)) return files_read_by(std::string(rest));
    if (text == "synth" || text.starts_with("synth:") || is_elsewhere(text)) return {};
    std::vector<std::string> files;
    std::error_code error;
    if (std::filesystem::is_directory(text, error)) {
        for (std::filesystem::directory_iterator entry(text, error), end; !error && entry != end;
             entry.increment(error))
            files.push_back(entry->path());
        return files;
    }
    if (!std::filesystem::exists(text, error))
        if (const auto pattern = SequencePattern::parse(text))
            for (const auto number : pattern->existing()) files.push_back(pattern->path(number));
    if (files.empty()) files.push_back(text);
    return files;
}

std::vector<std::string> files_written_by(const std::string& text) {
    std::string_view rest;
    if (!take_prefix(text, "synth:", rest)) return {};
    const auto truth = synth_truth(rest);
    return truth ? std::vector{*truth} : std::vector<std::string>{};
}

std::vector<std::string> files_of_sink(const std::string& text) {
    if (text.empty() || is_url(text)) return {};
    const auto pattern = SequencePattern::parse(text);
    if (!pattern) return {text};
    std::vector<std::string> files;
    try {
        for (const auto number : pattern->existing()) files.push_back(pattern->path(number));
    } catch (const Error&) {  // there is no such folder, which the sink will say
    }
    if (auto first = pattern->path(0); files.empty() || files.front() != first) files.push_back(std::move(first));
    return files;
}

std::unique_ptr<Sink> open_sink(const std::string& text, const Shape& frame, Rational rate,
                                const SinkOptions& options) {
    validate(frame, "the frame to write");
    const auto name = without_credentials(text);
    if (frame.frames != 1) fail(ErrorCode::usage, "{} takes single frames, not batches of {}", name, frame.frames);
    constexpr std::int64_t largest = 1'000'000'000;
    if (rate.numerator < 1 || rate.denominator < 1 || rate.numerator > largest || rate.denominator > largest ||
        rate.value() > 1000)
        fail(ErrorCode::usage, "{}: {}/{} frames a second; allowed are more than 0, up to 1000", name, rate.numerator,
             rate.denominator);

    const auto ends = [&](std::string_view ending) { return text.ends_with(ending); };
    if (!is_url(text) && SequencePattern::parse(text) && !ends(".png") && !ends(".jpg") && !ends(".jpeg"))
        fail(ErrorCode::usage,
             "{}: a number in the name is of images (.png .jpg), one for each frame; this is one file", text);
    if (text == "-" || (ends(".y4m") && !is_url(text))) return open_y4m_sink(text, frame, rate, options);
    if (is_url(text) || ends(".mp4") || ends(".mkv") || ends(".avi") || ends(".m3u8"))
        return open_sink_with_ffmpeg(text, frame, rate, options);
    if (ends(".bgr") || ends(".gray")) return open_raw_sink(text, frame, options);
    if (ends(".png")) return open_image_sink(text, frame, encode_png, options);
    if (ends(".jpg") || ends(".jpeg")) return open_image_sink(text, frame, jpeg_encoder(text), options);
    fail(ErrorCode::usage,
         "{}: what to write is told by the ending; known are .mp4 .mkv .avi .y4m .png .jpg .bgr .gray "
         ".m3u8, - for y4m on standard output, and URLs",
         name);
}

}  // namespace framewire
