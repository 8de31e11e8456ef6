// The table of sinks: one entry per output format, with extensions and parameters.

#include "framewire/media/sinks/sink_kinds.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/fwd/fwd.hpp"
#include "framewire/media/images/png.hpp"
#include "framewire/media/images/sequence.hpp"
#include "framewire/media/raw/raw.hpp"
#include "framewire/media/y4m/y4m.hpp"

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/encoding/still_encoder.hpp"
#include "framewire/media/ffmpeg/output/sink.hpp"
#include "framewire/media/ffmpeg/output/webp_sink.hpp"
#endif

#include <string>

namespace framewire {
namespace {

#ifdef FRAMEWIRE_FFMPEG

// One function for all formats that FFmpeg's muxers write.
constexpr auto open_with_muxer = open_ffmpeg_sink;

// Opens still images, or an animation if WebP gets several frames.
std::unique_ptr<Sink> open_still(const SinkCall& call, const Shape& frame, Rational rate, const SinkOptions& options) {
    if (call.ending == ".webp" && !call.numbered) return open_webp_sink(call, frame, rate, options);
    return open_image_sink(call.path, call.numbered, frame, still_encoder(call), options);
}

#else

constexpr auto open_with_muxer = nullptr, open_still = nullptr;

#endif

// Parameters of video encoders; the extension determines the defaults.
std::vector<ParameterInfo> encoder_parameters() {
    using Type = ParameterInfo::Type;
    return {
        {.name = "codec",
         .help = "FFmpeg's name of an encoder (libx264, libx265, h264_nvenc, h264_vaapi, libvpx-vp9 ...) or of a codec",
         .type = Type::text,
         .optional = true},
        {.name = "crf",
         .help = "constant quality as the encoder counts it, less is better",
         .type = Type::real,
         .minimum = 0,
         .maximum = 255,
         .optional = true},
        {.name = "bitrate",
         .help = "bits a second instead of constant quality",
         .type = Type::integer,
         .minimum = 1000,
         .maximum = 2e9,
         .optional = true},
        {.name = "preset", .help = "the encoder's own: speed against size", .type = Type::text, .optional = true},
        {.name = "tune", .help = "the encoder's own: what it is tuned for", .type = Type::text, .optional = true},
        {.name = "gop",
         .help = "frames from one key frame to the next, at most",
         .type = Type::integer,
         .minimum = 1,
         .maximum = 1e6,
         .optional = true},
        {.name = "pixels",
         .help = "FFmpeg's name of the pixel format: yuv420p, yuv444p, nv12, yuv420p10le ...",
         .type = Type::text,
         .optional = true},
    };
}

// Parameter of lossy image formats.
std::vector<ParameterInfo> quality_parameter() {
    using Type = ParameterInfo::Type;
    return {{.name = "quality",
             .help = "of the picture; of WebP 100 is lossless",
             .type = Type::integer,
             .minimum = 1,
             .maximum = 100,
             .optional = true}};
}

// Parameters of `-`: a format, and those of y4m.
std::vector<ParameterInfo> standard_output_parameters() {
    auto parameters = y4m_sink_parameters();
    parameters.insert(parameters.begin(), {.name = "format",
                                           .help = "y4m, or raw bytes without a header: bgr has 3 a pixel, gray 1",
                                           .type = ParameterInfo::Type::choice,
                                           .default_value = "y4m",
                                           .choices = {"y4m", "bgr", "gray"}});
    return parameters;
}

// Opens `-` as y4m or raw bytes, and rejects parameters of the other format.
std::unique_ptr<Sink> open_standard_output(const SinkCall& call, const Shape& frame, Rational rate,
                                           const SinkOptions& options) {
    const auto& format = call.values.text("format");
    if (format == "y4m") return open_y4m_sink(call, frame, rate, options);
    for (const auto& parameter : y4m_sink_parameters())
        if (call.values.has(parameter.name))
            fail(ErrorCode::usage, "{}: '{}' is a key of y4m, and format={} has raw bytes", call.path, parameter.name,
                 format);
    return open_raw_sink(call.path, format == "gray" ? 1 : 3, frame, options);
}

}  // namespace

std::vector<SinkKind> sink_kinds() {
    return {
        {.name = "stdout",
         .summary = "standard output, as -: y4m, or raw bytes by -:format=bgr",
         .parameters = standard_output_parameters(),
         .open = open_standard_output},
        {.name = "video",
         .summary =
             "H.264 (.mp4 .m4v .mov .ts), FFV1 (.mkv), VP9 (.webm), Motion JPEG (.avi), GIF, or what codec= says",
         .endings = {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".ts", ".avi", ".gif"},
         .parameters = encoder_parameters(),
         .is_cut = true,
         .open = open_with_muxer},
        {.name = "hls",
         .summary = "HLS: a playlist and its segments",
         .endings = {".m3u8"},
         .parameters = encoder_parameters(),
         .open = open_with_muxer},
        {.name = "network",
         .summary = "an address: rtsp://, rtmp://, udp://, srt://",
         .parameters = encoder_parameters(),
         .is_file = false,
         .open = open_with_muxer},
        {.name = "y4m",
         .summary = "y4m",
         .endings = {".y4m"},
         .parameters = y4m_sink_parameters(),
         .is_cut = true,
         .open = open_y4m_sink},
        {.name = "fwd",
         .summary = "the difference stream: every byte within the threshold, or lossless",
         .endings = {".fwd"},
         .parameters = fwd_sink_parameters(),
         .is_cut = true,
         .open = open_fwd_sink},
        {.name = "raw",
         .summary = "raw bytes",
         .endings = {".bgr", ".gray"},
         .is_cut = true,
         .open =
             [](const SinkCall& call, const Shape& frame, Rational, const SinkOptions& options) {
                 return open_raw_sink(call.path, call.ending == ".gray" ? 1 : 3, frame, options);
             }},
        {.name = "png",
         .summary = "one image, or many as img%04d.png",
         .endings = {".png"},
         .is_numbered = true,
         .open =
             [](const SinkCall& call, const Shape& frame, Rational, const SinkOptions& options) {
                 return open_image_sink(call.path, call.numbered, frame, encode_png, options);
             }},
        {.name = "image",
         .summary = "one image, or many as img%04d.jpg; lossy; several frames into one .webp move",
         .endings = {".jpg", ".jpeg", ".webp"},
         .parameters = quality_parameter(),
         .is_numbered = true,
         .open = open_still},
        {.name = "lossless image",
         .summary = "one image, or many as img%04d.tif; lossless",
         .endings = {".tif", ".tiff", ".bmp"},
         .is_numbered = true,
         .open = open_still},
    };
}

}  // namespace framewire
