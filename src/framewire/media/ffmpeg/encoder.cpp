#include "framewire/media/ffmpeg/encoder.hpp"
#include "framewire/core/text.hpp"

#include <fmt/format.h>

#include <string_view>

// Video encoder for images, native frames and planes. The three entry points differ in how the frame gets its pixels:
//
//    encode()         images are converted into a frame that is reused
//    encode_own()     the frame refers to the decoder's buffers
//    encode_planes()  the frame refers to planes that framewire converted

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <thread>
#include <utility>

namespace framewire {
namespace {

// Returns the colour coding for the encoder's pictures: the medium's coding if its range is limited, otherwise the
// coding that readers assume if they ignore tags.
YuvCoding coding_for(const AVCodec& encoder, AVPixelFormat format, int height, const PictureFacts& facts) {
    const auto* descriptor = av_pix_fmt_desc_get(format);
    const bool is_of_rgb = descriptor && (descriptor->flags & AV_PIX_FMT_FLAG_RGB);
    if (encoder.id == AV_CODEC_ID_MJPEG || is_of_rgb || is_gray(format)) return {YuvMatrix::bt601, true};
    if (encoder.id == AV_CODEC_ID_WEBP) return {YuvMatrix::bt601, false};  // WebP has no colour tags
    if (facts.coding && !facts.coding->full_range) return *facts.coding;
    return assumed_coding(height);
}

// Copies the colour tags to the encoder, with the primaries and transfer of the medium or the defaults for the matrix.
void tag_context(AVCodecContext& context, const AVFrame& frame, const YuvCoding& coding, const PictureFacts& facts) {
    context.color_range = frame.color_range;
    const auto* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
    const bool rgb = descriptor && (descriptor->flags & AV_PIX_FMT_FLAG_RGB);
    context.colorspace = rgb ? AVCOL_SPC_RGB : frame.colorspace;
    context.sample_aspect_ratio = {static_cast<int>(facts.pixel_aspect.numerator),
                                   static_cast<int>(facts.pixel_aspect.denominator)};
    if (rgb || coding.full_range) return;
    const bool hd = coding.matrix != YuvMatrix::bt601;
    const auto of = [](std::optional<int> own, int otherwise) { return own.value_or(otherwise); };
    context.color_primaries =
        static_cast<AVColorPrimaries>(of(facts.primaries, hd ? AVCOL_PRI_BT709 : AVCOL_PRI_SMPTE170M));
    context.color_trc =
        static_cast<AVColorTransferCharacteristic>(of(facts.transfer, hd ? AVCOL_TRC_BT709 : AVCOL_TRC_SMPTE170M));
    context.chroma_sample_location = AVCHROMA_LOC_LEFT;
}

}  // namespace

VideoEncoder::VideoEncoder(const EncoderChoice& choice, const Frames& frames, int threads, bool global_header) {
    const auto& encoder = find_encoder(choice);
    const auto& shape = frames.shape;
    const auto format = pixel_format(encoder, choice, shape);
    coding_ = coding_for(encoder, format, shape.height, frames.facts);

    context_.reset(avcodec_alloc_context3(&encoder));
    if (!context_) fail(ErrorCode::config, "not enough memory for an encoder");
    auto& context = *context_;
    context.width = shape.width;
    context.height = shape.height;
    context.pix_fmt = format;
    context.time_base = frames.time_base;
    context.framerate = {static_cast<int>(frames.rate.numerator), static_cast<int>(frames.rate.denominator)};
    if (format == AV_PIX_FMT_VAAPI) hardware_ = std::make_unique<HardwareFrames>(context);
    if (format == AV_PIX_FMT_PAL8) palette_ = std::make_unique<GifPalette>(shape, frames.time_base);
    frame_ = empty_frame();
    tag_context(context, *frame_, coding_, frames.facts);
    // x264's threads wait for rows that other threads still encode; 1.5 threads per core keep all cores busy.
    const int machine = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    context.thread_count = threads > 0 ? threads : std::min((3 * machine + 1) / 2, 12);
    if (global_header) context.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;

    Dictionary dictionary;
    set_quality(choice, context, dictionary);
    // The encoder validates shape and settings in avcodec_open2(). A hardware encoder fails here if its device is
    // missing.
    if (const int error = avcodec_open2(&context, &encoder, dictionary.address()); error < 0) {
        const auto why = ffmpeg_error(error);
        if (is_hardware(encoder))
            fail(ErrorCode::config, "the encoder {} cannot be used on this machine: {}", encoder.name, why);
        fail(ErrorCode::usage, "{} does not accept {}: {}", encoder.name, to_string(shape), why);
    }
    frame_->quality = context.global_quality;
}

// Allocates a frame in the format that images are converted to. For hardware and palette encoders this differs from the
// encoder's format.
FramePointer VideoEncoder::empty_frame() const {
    const auto format = palette_ ? AV_PIX_FMT_BGR0 : hardware_ ? AV_PIX_FMT_NV12 : context_->pix_fmt;
    auto frame = make_frame(format, context_->width, context_->height);
    tag_as_encoded(*frame);
    return frame;
}

void VideoEncoder::tag_as_encoded(AVFrame& frame) const {
    tag(frame, coding_);
    frame.chroma_location = context_->chroma_sample_location;
}

// Returns true if a picture can be passed on without conversion: it must be planar and have the same format, size and
// coding, and chroma at the left position, which is what tag_context() declares. 4:4:4 has no chroma position.
bool VideoEncoder::takes(const AVFrame& picture) const {
    if (palette_ || hardware_ || picture.format != context_->pix_fmt || picture.width != context_->width ||
        picture.height != context_->height || picture.linesize[0] < picture.width || coding_.full_range)
        return false;
    const bool other_siting =
        picture.chroma_location != AVCHROMA_LOC_UNSPECIFIED && picture.chroma_location != AVCHROMA_LOC_LEFT;
    std::string assumed;
    return coding_of(picture, assumed) == coding_ && !(other_siting && context_->pix_fmt != AV_PIX_FMT_YUV444P);
}

void VideoEncoder::encode(HostView<const std::uint8_t> image, std::int64_t pts, const Deliver& deliver) {
    if (!av_frame_is_writable(frame_.get())) frame_ = empty_frame();  // the encoder still uses the old one
    converter_.to_frame(image, *frame_);
    send(pts, deliver);
}

void VideoEncoder::encode_own(const AVFrame& picture, std::int64_t pts, const Deliver& deliver) {
    // Pass on the pixels only; other side data belong to the decoder.
    frame_ = make_frame();
    frame_->format = picture.format;
    frame_->width = picture.width;
    frame_->height = picture.height;
    for (int plane = 0; plane < AV_NUM_DATA_POINTERS; ++plane) {
        frame_->data[plane] = picture.data[plane];
        frame_->linesize[plane] = picture.linesize[plane];
        if (!picture.buf[plane]) continue;
        frame_->buf[plane] = av_buffer_ref(picture.buf[plane]);
        if (!frame_->buf[plane]) fail(ErrorCode::config, "not enough memory for a picture");
    }
    tag_as_encoded(*frame_);
    send(pts, deliver);
}

void VideoEncoder::encode_planes(const std::shared_ptr<const YuvPicture>& picture, std::int64_t pts,
                                 const Deliver& deliver) {
    // The encoder may keep the picture for a while: one AVBuffer shares ownership of the picture's planes.
    auto held = std::make_unique<std::shared_ptr<const YuvPicture>>(picture);
    const auto view = picture->view();
    const auto format = static_cast<AVPixelFormat>(frame_->format);
    frame_ = make_frame();
    frame_->format = format;
    frame_->width = view.info.width;
    frame_->height = view.info.height;
    for (int plane = 0; plane < view.info.planes(); ++plane) {
        const auto& from = view.planes[static_cast<std::size_t>(plane)];
        frame_->data[plane] = const_cast<std::uint8_t*>(from.data);
        frame_->linesize[plane] = static_cast<int>(from.row_stride_bytes);
    }
    const auto release = [](void* shared, std::uint8_t*) {
        delete static_cast<std::shared_ptr<const YuvPicture>*>(shared);
    };
    frame_->buf[0] = av_buffer_create(frame_->data[0], static_cast<std::size_t>(picture->bytes()), release, held.get(),
                                      AV_BUFFER_FLAG_READONLY);
    if (!frame_->buf[0]) fail(ErrorCode::config, "not enough memory for a picture");
    static_cast<void>(held.release());  // now owned by the AVBuffer
    tag_as_encoded(*frame_);
    send(pts, deliver);
}

void VideoEncoder::repeat(std::int64_t pts, const Deliver& deliver) {
    send(pts, deliver);  // the pixels are unchanged: encode() allocates a new frame while the encoder holds this one
}

// Encodes frame_, after conversion to a palette or upload to the device if the encoder needs it.
void VideoEncoder::send(std::int64_t pts, const Deliver& deliver) {
    frame_->pts = pts;
    frame_->quality = context_->global_quality;
    frame_->pict_type = std::exchange(key_is_next_, false) ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
    const auto* frame = frame_.get();
    if (palette_) frame = &palette_->reduce(*frame_);
    if (hardware_) frame = &hardware_->upload(*frame_);
    if (const int error = avcodec_send_frame(context_.get(), frame); error < 0)
        fail(ErrorCode::io, "encoding failed: {}", ffmpeg_error(error));
    drain(deliver);
}

void VideoEncoder::flush(const Deliver& deliver) {
    if (const int error = avcodec_send_frame(context_.get(), nullptr); error < 0 && error != AVERROR_EOF)
        fail(ErrorCode::io, "encoding failed: {}", ffmpeg_error(error));
    drain(deliver);
}

// Delivers all packets that the encoder has ready.
void VideoEncoder::drain(const Deliver& deliver) {
    for (;;) {
        const int result = avcodec_receive_packet(context_.get(), packet_.get());
        if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return;
        if (result < 0) fail(ErrorCode::io, "encoding failed: {}", ffmpeg_error(result));
        deliver(*packet_);
        av_packet_unref(packet_.get());
    }
}

}  // namespace framewire

// Maps user choices to encoder settings. FFmpeg's encoders name the same concept differently (crf, cq, qp,
// global_quality), and their defaults are often unsuitable; this file is the only one that knows individual encoders.

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

// Common codec names that FFmpeg does not know, and encoders that are better than FFmpeg's default for a codec.
constexpr std::array<std::pair<std::string_view, const char*>, 5> other_names{
    {{"h265", "hevc"}, {"x264", "libx264"}, {"x265", "libx265"}, {"av1", "libsvtav1"}, {"vp9", "libvpx-vp9"}}};

// Default quality and presets of an encoder that supports constant quality.
struct Suited {
    std::string_view encoder;
    double crf;
    const char *preset, *live_preset;
};
constexpr std::array<Suited, 4> suited{{{"libx264", 20, "medium", "veryfast"},
                                        {"libx265", 23, "medium", "ultrafast"},
                                        {"libvpx-vp9", 31, "", ""},
                                        {"libsvtav1", 30, "8", "12"}}};

// Returns true if an encoder has the private option `name`.
bool has_option(const AVCodec& encoder, const char* name) {
    return encoder.priv_class && av_opt_find(const_cast<const AVClass**>(&encoder.priv_class), name, nullptr, 0,
                                             AV_OPT_SEARCH_FAKE_OBJ) != nullptr;
}

void require_option(const AVCodec& encoder, const char* name) {
    if (!has_option(encoder, name)) fail(ErrorCode::usage, "the encoder {} has no option {}", encoder.name, name);
}

// Returns the names of all video encoders, for suggestions in error messages.
std::vector<std::string_view> encoder_names() {
    std::vector<std::string_view> names;
    void* at = nullptr;
    while (const auto* codec = av_codec_iterate(&at))
        if (av_codec_is_encoder(codec) && codec->type == AVMEDIA_TYPE_VIDEO) names.push_back(codec->name);
    return names;
}

// Returns true if an encoder accepts a pixel format.
bool takes(const AVCodec& encoder, AVPixelFormat format) {
    if (!encoder.pix_fmts) return true;
    for (const auto* one = encoder.pix_fmts; *one != AV_PIX_FMT_NONE; ++one)
        if (*one == format) return true;
    return false;
}

// Sets constant quality through the encoder's own option: crf, cq or qp.
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
    fail(ErrorCode::usage, "the encoder {} does not support crf; use bitrate= instead", encoder.name);
}

// Sets the quantiser of JPEG and MPEG codecs; 1 gives the best quality.
void set_quantiser(int quantiser, AVCodecContext& context) {
    context.flags |= AV_CODEC_FLAG_QSCALE;
    context.global_quality = FF_QP2LAMBDA * quantiser;
}

// Sets WebP's quality. 100 means lossless, which is a different mode of WebP.
void set_webp_quality(int quality, Dictionary& dictionary) {
    if (quality == 100) dictionary.set("lossless", 1);
    dictionary.set("quality", quality);
}

// Returns a bitrate for hardware encoders without a constant-quality mode: enough for H.264 at this size.
std::int64_t ample_bitrate(const AVCodecContext& context) {
    return std::llround(0.15 * context.width * context.height * std::clamp(av_q2d(context.framerate), 1.0, 120.0));
}

// Sets the encoder's default quality, for users who chose none.
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

// Configures FFV1: every frame is a key frame, with slices for parallel decoding and a checksum per slice (FFV1 version
// 3).
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
    if (choice.live) {
        // Key frames on demand allow decoding to start. Without these options, hardware encoders hold frames back.
        for (const auto* option : {"forced-idr", "forced_idr"})
            if (has_option(encoder, option)) dictionary.set(option, 1);
        if (has_option(encoder, "async_depth")) dictionary.set("async_depth", 1);
        if (name.ends_with("_nvenc")) dictionary.set("delay", 0), dictionary.set("zerolatency", 1);
    }
    if (name == "libvpx-vp9" || name == "libvpx") {
        dictionary.set("deadline", choice.live ? "realtime" : "good");
        dictionary.set("cpu-used", choice.live ? 8 : 4);
        if (name == "libvpx-vp9") dictionary.set("row-mt", 1);
    }
    if (name == "libx265") dictionary.set("x265-params", "log-level=error");
    // Use the plain C version of MB-tree; everything else stays as fast as the CPU allows. The AVX-512 version reads
    // blocks beyond the end of a row if a row is not a multiple of 128 pixels. That memory is uninitialised, so equal
    // frames could encode to different bytes. MB-tree also rounds differently on each instruction set.
    if (name.starts_with("libx264")) dictionary.set("x264-params", "cpu-independent=1");
}

}  // namespace

EncoderChoice EncoderChoice::from(const ParameterValues& values, const std::string& codec, bool live) {
    EncoderChoice choice{.codec = codec, .live = live};
    if (values.has("codec")) choice.codec = values.text("codec");
    if (values.has("crf")) choice.crf = values.real("crf");
    choice.bitrate = encoder_bitrate(values, codec);
    if (values.has("preset")) choice.preset = values.text("preset");
    if (values.has("tune")) choice.tune = values.text("tune");
    if (values.has("gop")) choice.gop = static_cast<int>(values.integer("gop"));
    if (values.has("pixels")) choice.pixels = values.text("pixels");
    if (values.has("quality")) choice.quality = static_cast<int>(values.integer("quality"));
    return choice;
}

// Looks for an encoder with this name first, then for a codec.
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
    fail(ErrorCode::usage, "codec '{}' is not a video encoder of this FFmpeg{}; 'ffmpeg -encoders' lists them",
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
            fail(ErrorCode::usage, "pixels '{}' is not an FFmpeg pixel format", choice.pixels);
        if (!takes(encoder, format))
            fail(ErrorCode::usage, "the encoder {} does not support the pixel format '{}'", encoder.name,
                 choice.pixels);
        return format;
    }
    // Lossless formats keep gray as gray.
    if (encoder.id == AV_CODEC_ID_FFV1 || encoder.id == AV_CODEC_ID_TIFF || encoder.id == AV_CODEC_ID_BMP)
        if (frame.channels == 1 && takes(encoder, AV_PIX_FMT_GRAY8)) return AV_PIX_FMT_GRAY8;
    if (encoder.id == AV_CODEC_ID_MJPEG) return AV_PIX_FMT_YUVJ420P;
    // WebP is lossless at quality 100 and then stores BGRA.
    if (choice.quality == 100 && takes(encoder, AV_PIX_FMT_BGRA)) return AV_PIX_FMT_BGRA;
    static constexpr std::array wanted{AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12, AV_PIX_FMT_VAAPI, AV_PIX_FMT_YUVJ420P,
                                       AV_PIX_FMT_YUV444P, AV_PIX_FMT_BGR0, AV_PIX_FMT_BGR24, AV_PIX_FMT_RGB24,
                                       AV_PIX_FMT_PAL8,    AV_PIX_FMT_GRAY8};
    static constexpr std::array wanted_lossless{AV_PIX_FMT_BGR0, AV_PIX_FMT_BGR24, AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV444P,
                                                AV_PIX_FMT_YUV420P};
    // Prefer RGB formats for lossless codecs, because they lose nothing, and otherwise 4:2:0, which all players
    // support.
    const auto* descriptor = avcodec_descriptor_get(encoder.id);
    const bool lossless = descriptor && !(descriptor->props & AV_CODEC_PROP_LOSSY);
    // Frames of odd size use 4:4:4, which needs neither padding nor cropping.
    if (odd) {
        if (takes(encoder, AV_PIX_FMT_YUV444P)) return AV_PIX_FMT_YUV444P;
        fail(ErrorCode::usage, "the encoder {} only supports even sizes, not {}x{}", encoder.name, frame.width,
             frame.height);
    }
    if (lossless)
        for (const auto format : wanted_lossless)
            if (takes(encoder, format)) return format;
    for (const auto format : wanted)
        if (takes(encoder, format)) return format;
    return encoder.pix_fmts[0];
}

// Applies the first of quality=, bitrate= and crf= that is given, otherwise the default. Live output has a key frame
// every 2 s and no B-frames.
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

// palettegen with stats_mode=single makes a palette per frame, and paletteuse with new=1 applies it to the same frame.
GifPalette::GifPalette(const Shape& shape, AVRational time_base)
    : graph_(
          fmt::format("buffer@in=video_size={}x{}:pix_fmt={}:time_base={}/{},format=bgra,split[a][b];"
                      "[a]palettegen=stats_mode=single:reserve_transparent=0[p];[b][p]paletteuse=new=1,buffersink@out",
                      shape.width, shape.height, static_cast<int>(AV_PIX_FMT_BGR0), time_base.num, time_base.den)) {}

}  // namespace framewire

// Uploads NV12 frames for VA-API encoders, which cannot read host memory.

extern "C" {
#include <libavutil/hwcontext.h>
}

namespace framewire {

// Creates a pool of NV12 surfaces, the only memory that VA-API encoders read.
HardwareFrames::HardwareFrames(AVCodecContext& context) {
    AVBufferRef* device = nullptr;
    if (const int error = av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VAAPI, nullptr, nullptr, 0); error < 0)
        fail(ErrorCode::config, "the encoder {} cannot be used on this machine: no VA-API device: {}",
             context.codec->name, ffmpeg_error(error));
    device_.reset(device);
    frames_.reset(av_hwframe_ctx_alloc(device));
    if (!frames_) fail(ErrorCode::config, "not enough memory for an encoder");
    auto& frames = *reinterpret_cast<AVHWFramesContext*>(frames_->data);
    frames.format = AV_PIX_FMT_VAAPI;
    frames.sw_format = AV_PIX_FMT_NV12;
    frames.width = context.width;
    frames.height = context.height;
    frames.initial_pool_size = 20;
    if (const int error = av_hwframe_ctx_init(frames_.get()); error < 0)
        fail(ErrorCode::config, "the encoder {} cannot be used on this machine: {}", context.codec->name,
             ffmpeg_error(error));
    context.hw_frames_ctx = av_buffer_ref(frames_.get());
}

const AVFrame& HardwareFrames::upload(const AVFrame& picture) {
    uploaded_ = make_frame();
    int error = av_hwframe_get_buffer(frames_.get(), uploaded_.get(), 0);
    if (error >= 0) error = av_hwframe_transfer_data(uploaded_.get(), &picture, 0);
    if (error >= 0) error = av_frame_copy_props(uploaded_.get(), &picture);
    if (error < 0) fail(ErrorCode::io, "encoding failed: {}", ffmpeg_error(error));
    return *uploaded_;
}

namespace {

// Returns the encoder for an extension. JPEG is 4:4:4 at quality 97 unless the user chose a quality.
EncoderChoice still_choice(const SinkCall& call) {
    const std::string_view ending = call.ending;
    const auto codec = ending == ".webp"                       ? "libwebp"
                       : ending == ".bmp"                      ? "bmp"
                       : ending == ".tif" || ending == ".tiff" ? "tiff"
                                                               : "mjpeg";
    auto choice = EncoderChoice::from(call.values, codec, false);
    if (choice.codec == "mjpeg") {
        choice.pixels = "yuvj444p";
        if (!choice.quality) choice.quality = 97;
    }
    return choice;
}

// Encodes one image with a new encoder on one thread.
std::vector<std::uint8_t> encode_still(HostView<const std::uint8_t> image, const EncoderChoice& choice) {
    VideoEncoder encoder(choice, {.shape = image.shape(), .rate = {1, 1}, .time_base = {1, 1}}, 1, false);
    std::vector<std::uint8_t> bytes;
    const auto append = [&](AVPacket& packet) { bytes.insert(bytes.end(), packet.data, packet.data + packet.size); };
    encoder.encode(image, 0, append);
    encoder.flush(append);
    return bytes;
}

}  // namespace

EncodeImage still_encoder(const SinkCall& call) {
    initialise_ffmpeg();
    return [choice = still_choice(call)](HostView<const std::uint8_t> image) { return encode_still(image, choice); };
}

}  // namespace framewire
