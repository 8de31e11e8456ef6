// Maps user choices to encoder settings. FFmpeg's encoders name the same concept differently (crf, cq, qp,
// global_quality), and their defaults are often unsuitable; this file is the only one that knows individual encoders.

#include "framewire/media/ffmpeg/encoding/encoder_choice.hpp"

#include "framewire/core/text/nearest_name.hpp"

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace framewire {
namespace {

// Common names of codecs that FFmpeg does not know, and encoders that are better than FFmpeg's default for a codec.
constexpr std::array<std::pair<std::string_view, const char*>, 5> other_names{
    {{"h265", "hevc"}, {"x264", "libx264"}, {"x265", "libx265"}, {"av1", "libsvtav1"}, {"vp9", "libvpx-vp9"}}};

// Default quality and presets of an encoder with constant quality.
struct Suited {
    std::string_view encoder;
    double crf;
    const char *preset, *live_preset;
};
constexpr std::array<Suited, 4> suited{{{"libx264", 20, "medium", "veryfast"},
                                        {"libx265", 23, "medium", "ultrafast"},
                                        {"libvpx-vp9", 31, "", ""},
                                        {"libsvtav1", 30, "8", "12"}}};

// True if an encoder has a private option.
bool has_option(const AVCodec& encoder, const char* name) {
    return encoder.priv_class && av_opt_find(const_cast<const AVClass**>(&encoder.priv_class), name, nullptr, 0,
                                             AV_OPT_SEARCH_FAKE_OBJ) != nullptr;
}

void require_option(const AVCodec& encoder, const char* name) {
    if (!has_option(encoder, name)) fail(ErrorCode::usage, "the encoder {} has no {}", encoder.name, name);
}

// Names of all video encoders, for suggestions.
std::vector<std::string_view> encoder_names() {
    std::vector<std::string_view> names;
    void* at = nullptr;
    while (const auto* codec = av_codec_iterate(&at))
        if (av_codec_is_encoder(codec) && codec->type == AVMEDIA_TYPE_VIDEO) names.push_back(codec->name);
    return names;
}

// True if an encoder accepts a pixel format.
bool takes(const AVCodec& encoder, AVPixelFormat format) {
    if (!encoder.pix_fmts) return true;
    for (const auto* one = encoder.pix_fmts; *one != AV_PIX_FMT_NONE; ++one)
        if (*one == format) return true;
    return false;
}

// Sets constant quality under the encoder's name for it: crf, cq or qp.
void set_constant_quality(double quality, AVCodecContext& context, Dictionary& dictionary) {
    const auto& encoder = *context.codec;
    const auto text = fmt::format("{}", quality);
    if (has_option(encoder, "crf")) {
        dictionary.set("crf", text);
        return;
    }
    if (has_option(encoder, "cq")) {  // NVENC
        dictionary.set("rc", "vbr");
        dictionary.set("cq", text);
        return;
    }
    if (has_option(encoder, "qp")) {  // VA-API and others
        dictionary.set("qp", fmt::format("{}", std::lround(quality)));
        return;
    }
    fail(ErrorCode::usage, "the encoder {} has no crf; bitrate= may suit it", encoder.name);
}

// Sets the quantiser of JPEG and MPEG codecs; 1 is the best quality.
void set_quantiser(int quantiser, AVCodecContext& context) {
    context.flags |= AV_CODEC_FLAG_QSCALE;
    context.global_quality = FF_QP2LAMBDA * quantiser;
}

// Quality 100 means lossless, which WebP encodes in a different mode.
void set_webp_quality(int quality, Dictionary& dictionary) {
    if (quality == 100) dictionary.set("lossless", 1);
    dictionary.set("quality", quality);
}

// Bitrate for hardware encoders without a constant-quality mode: enough for H.264 at this size.
std::int64_t ample_bitrate(const AVCodecContext& context) {
    return std::llround(0.15 * context.width * context.height * std::clamp(av_q2d(context.framerate), 1.0, 120.0));
}

// Default quality, if the user chose none.
void set_suited_quality(AVCodecContext& context, Dictionary& dictionary) {
    const auto& encoder = *context.codec;
    const auto found = std::ranges::find(suited, std::string_view(encoder.name), &Suited::encoder);
    if (found != suited.end()) return set_constant_quality(found->crf, context, dictionary);
    if (is_hardware(encoder)) {
        if (has_option(encoder, "cq") || has_option(encoder, "qp"))
            return set_constant_quality(22, context, dictionary);
        context.bit_rate = ample_bitrate(context);
        return;
    }
    switch (encoder.id) {
        case AV_CODEC_ID_MJPEG:
        case AV_CODEC_ID_MPEG4:
        case AV_CODEC_ID_MPEG2VIDEO:
        case AV_CODEC_ID_MPEG1VIDEO: return set_quantiser(3, context);
        case AV_CODEC_ID_VP8:
        case AV_CODEC_ID_AV1:
        case AV_CODEC_ID_HEVC:
        case AV_CODEC_ID_H264: context.bit_rate = ample_bitrate(context); break;
        default: break;
    }
}

// FFV1: every frame is a key frame, with slices for parallel decoding and a checksum per slice (FFV1 version 3).
void set_lossless(AVCodecContext& context, Dictionary& dictionary) {
    context.gop_size = 1;
    // Pictures too small for slices need FFV1 version 1, which has neither slices nor checksums.
    if (context.width < 16 || context.height < 16) {
        dictionary.set("level", 1);
        return;
    }
    dictionary.set("level", 3);
    dictionary.set("slicecrc", 1);
    dictionary.set("slices", 4);
}

// Sets preset, tune and equivalent options: the user's choice, or the default for live or file output.
void set_speed(const EncoderChoice& choice, const AVCodec& encoder, Dictionary& dictionary) {
    const std::string_view name = encoder.name;
    if (!choice.preset.empty()) {
        require_option(encoder, "preset");
        dictionary.set("preset", choice.preset);
    } else if (const auto found = std::ranges::find(suited, name, &Suited::encoder);
               found != suited.end() && *found->preset) {
        dictionary.set("preset", choice.live || choice.hurry ? found->live_preset : found->preset);
    }
    if (!choice.tune.empty()) {
        require_option(encoder, "tune");
        dictionary.set("tune", choice.tune);
    } else if (choice.live && (name == "libx264" || name == "libx265")) {
        dictionary.set("tune", "zerolatency");
    }
    if (name == "libvpx-vp9" || name == "libvpx") {
        dictionary.set("deadline", choice.live ? "realtime" : "good");
        dictionary.set("cpu-used", choice.live ? 8 : 4);
        if (name == "libvpx-vp9") dictionary.set("row-mt", 1);
    }
    if (name == "libx265") dictionary.set("x265-params", "log-level=error");
    // Uses the plain C version of MB-tree; everything else stays as fast as the CPU allows. The AVX-512 version reads
    // blocks beyond the end of a row if a row is not a multiple of 128 pixels. That memory is uninitialised, so equal
    // frames could encode to different bytes. It also rounds differently on each instruction set.
    if (name.starts_with("libx264")) dictionary.set("x264-params", "cpu-independent=1");
}

}  // namespace

EncoderChoice EncoderChoice::from(const ParameterValues& values, const std::string& codec, bool live) {
    EncoderChoice choice{.codec = codec, .live = live};
    if (values.has("codec")) choice.codec = values.text("codec");
    if (values.has("crf")) choice.crf = values.real("crf");
    if (values.has("bitrate")) choice.bitrate = values.integer("bitrate");
    if (values.has("preset")) choice.preset = values.text("preset");
    if (values.has("tune")) choice.tune = values.text("tune");
    if (values.has("gop")) choice.gop = static_cast<int>(values.integer("gop"));
    if (values.has("pixels")) choice.pixels = values.text("pixels");
    if (values.has("quality")) choice.quality = static_cast<int>(values.integer("quality"));
    if (choice.crf && choice.bitrate) fail(ErrorCode::usage, "crf and bitrate exclude each other");
    return choice;
}

// Looks for an encoder name first, then for a codec name.
const AVCodec& find_encoder(const EncoderChoice& choice) {
    auto name = choice.codec;
    for (const auto& [other, own] : other_names)
        if (other == name) name = own;
    if (const auto* encoder = avcodec_find_encoder_by_name(name.c_str());
        encoder && encoder->type == AVMEDIA_TYPE_VIDEO)
        return *encoder;
    if (const auto* descriptor = avcodec_descriptor_get_by_name(name.c_str());
        descriptor && descriptor->type == AVMEDIA_TYPE_VIDEO) {
        if (const auto* encoder = avcodec_find_encoder(descriptor->id)) return *encoder;
        fail(ErrorCode::config, "this FFmpeg has no encoder for {}", descriptor->name);
    }
    fail(ErrorCode::usage, "codec '{}' is no encoder of video that this FFmpeg has{}; 'ffmpeg -encoders' lists them",
         choice.codec, did_you_mean(choice.codec, encoder_names()));
}

bool is_hardware(const AVCodec& encoder) {
    return (encoder.capabilities & (AV_CODEC_CAP_HARDWARE | AV_CODEC_CAP_HYBRID)) != 0 ||
           std::string_view(encoder.name).ends_with("_nvenc");
}

AVPixelFormat pixel_format(const AVCodec& encoder, const EncoderChoice& choice, const Shape& frame) {
    // 4:2:0 in these codecs requires even sizes.
    const bool whole_blocks = encoder.id == AV_CODEC_ID_H264 || encoder.id == AV_CODEC_ID_HEVC;
    const bool odd = whole_blocks && (frame.width % 2 || frame.height % 2);
    if (!choice.pixels.empty()) {
        const auto format = av_get_pix_fmt(choice.pixels.c_str());
        if (format == AV_PIX_FMT_NONE)
            fail(ErrorCode::usage, "pixels '{}' is no pixel format of FFmpeg's", choice.pixels);
        if (!takes(encoder, format))
            fail(ErrorCode::usage, "the encoder {} does not take pixels '{}'", encoder.name, choice.pixels);
        return format;
    }
    // Gray stays gray in lossless formats.
    if (encoder.id == AV_CODEC_ID_FFV1 || encoder.id == AV_CODEC_ID_TIFF || encoder.id == AV_CODEC_ID_BMP)
        if (frame.channels == 1 && takes(encoder, AV_PIX_FMT_GRAY8)) return AV_PIX_FMT_GRAY8;
    if (encoder.id == AV_CODEC_ID_MJPEG) return AV_PIX_FMT_YUVJ420P;
    // Lossless WebP.
    if (choice.quality == 100 && takes(encoder, AV_PIX_FMT_BGRA)) return AV_PIX_FMT_BGRA;
    static constexpr std::array wanted{AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12, AV_PIX_FMT_VAAPI, AV_PIX_FMT_YUVJ420P,
                                       AV_PIX_FMT_YUV444P, AV_PIX_FMT_BGR0, AV_PIX_FMT_BGR24, AV_PIX_FMT_RGB24,
                                       AV_PIX_FMT_PAL8,    AV_PIX_FMT_GRAY8};
    static constexpr std::array wanted_lossless{AV_PIX_FMT_BGR0, AV_PIX_FMT_BGR24, AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV444P,
                                                AV_PIX_FMT_YUV420P};
    // Preference: for lossless codecs RGB formats, which lose nothing; otherwise 4:2:0, which all players support.
    const auto* descriptor = avcodec_descriptor_get(encoder.id);
    const bool lossless = descriptor && !(descriptor->props & AV_CODEC_PROP_LOSSY);
    // Neither padding nor cropping: frames of odd size use 4:4:4.
    if (odd) {
        if (takes(encoder, AV_PIX_FMT_YUV444P)) return AV_PIX_FMT_YUV444P;
        fail(ErrorCode::usage, "the encoder {} takes even sizes only, not {}x{}", encoder.name, frame.width,
             frame.height);
    }
    if (lossless)
        for (const auto format : wanted_lossless)
            if (takes(encoder, format)) return format;
    for (const auto format : wanted)
        if (takes(encoder, format)) return format;
    return encoder.pix_fmts[0];
}

// Precedence: quality=, bitrate=, crf=, then the default. For live output a key frame every 2 s and no B-frames.
void set_quality(const EncoderChoice& choice, AVCodecContext& context, Dictionary& dictionary) {
    const auto& encoder = *context.codec;
    if (encoder.id == AV_CODEC_ID_FFV1) set_lossless(context, dictionary);
    if (encoder.id == AV_CODEC_ID_TIFF) dictionary.set("compression_algo", "deflate");
    set_speed(choice, encoder, dictionary);
    if (encoder.id == AV_CODEC_ID_WEBP)
        set_webp_quality(choice.quality.value_or(90), dictionary);
    else if (choice.quality)
        set_quantiser(1 + static_cast<int>(std::lround((100 - *choice.quality) * 30 / 99.0)), context);
    else if (choice.bitrate)
        context.bit_rate = *choice.bitrate;
    else if (choice.crf)
        set_constant_quality(*choice.crf, context, dictionary);
    else
        set_suited_quality(context, dictionary);
    if (choice.live) {
        context.gop_size = std::max(1, static_cast<int>(std::lround(2 * av_q2d(context.framerate))));
        context.max_b_frames = 0;
    }
    if (choice.gop) context.gop_size = *choice.gop;
}

}  // namespace framewire
