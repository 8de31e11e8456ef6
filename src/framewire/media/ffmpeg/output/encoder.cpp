#include "framewire/media/ffmpeg/output/encoder.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace framewire {
namespace {

const AVCodec& find_encoder(VideoCodec codec) {
    const auto by_id = [](AVCodecID id, const char* name) -> const AVCodec& {
        const auto* found = avcodec_find_encoder(id);
        if (!found) fail(ErrorCode::config, "this FFmpeg has no encoder for {}", name);
        return *found;
    };
    switch (codec) {
        case VideoCodec::ffv1: return by_id(AV_CODEC_ID_FFV1, "FFV1");
        case VideoCodec::mjpeg:
        case VideoCodec::jpeg: return by_id(AV_CODEC_ID_MJPEG, "JPEG");
        case VideoCodec::h264:
        case VideoCodec::h264_live: break;
    }
    if (const auto* x264 = avcodec_find_encoder_by_name("libx264")) return *x264;
    return by_id(AV_CODEC_ID_H264, "H.264");
}

AVPixelFormat pixel_format(VideoCodec codec, const Shape& frame) {
    switch (codec) {
        case VideoCodec::ffv1: return frame.channels == 1 ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_BGR0;
        case VideoCodec::mjpeg: return AV_PIX_FMT_YUVJ420P;
        case VideoCodec::jpeg: return AV_PIX_FMT_YUVJ444P;
        case VideoCodec::h264:
        case VideoCodec::h264_live: break;
    }
    // 4:2:0 knows even sizes only.
    return frame.width % 2 || frame.height % 2 ? AV_PIX_FMT_YUV444P : AV_PIX_FMT_YUV420P;
}

YuvCoding coding_for(VideoCodec codec, int height) {
    switch (codec) {
        case VideoCodec::h264:
        case VideoCodec::h264_live: return assumed_coding(height);  // right for readers that ignore tags, too
        default: return {YuvMatrix::bt601, true};
    }
}

}  // namespace

VideoEncoder::VideoEncoder(VideoCodec codec, const Shape& frame, Rational rate, AVRational time_base, int threads,
                           bool global_header)
    : coding_(coding_for(codec, frame.height)) {
    const auto& encoder = find_encoder(codec);
    const auto format = pixel_format(codec, frame);
    frame_ = make_frame(format, frame.width, frame.height);
    tag(*frame_, coding_);

    context_.reset(avcodec_alloc_context3(&encoder));
    if (!context_) fail(ErrorCode::config, "no memory for an encoder");
    auto& context = *context_;
    context.width = frame.width;
    context.height = frame.height;
    context.pix_fmt = format;
    context.time_base = time_base;
    context.framerate = {static_cast<int>(rate.numerator), static_cast<int>(rate.denominator)};
    context.color_range = frame_->color_range;
    context.colorspace = format == AV_PIX_FMT_BGR0 ? AVCOL_SPC_RGB : frame_->colorspace;
    const int machine = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    context.thread_count = threads > 0 ? threads : std::min(machine, 8);
    if (global_header) context.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;

    Dictionary dictionary;
    switch (codec) {
        case VideoCodec::h264:
        case VideoCodec::h264_live: {
            const bool hd = coding_.matrix == YuvMatrix::bt709;
            context.color_primaries = hd ? AVCOL_PRI_BT709 : AVCOL_PRI_SMPTE170M;
            context.color_trc = hd ? AVCOL_TRC_BT709 : AVCOL_TRC_SMPTE170M;
            context.chroma_sample_location = AVCHROMA_LOC_LEFT;
            dictionary.set("preset", "veryfast");
            dictionary.set("crf", "20");
            if (codec == VideoCodec::h264_live) {
                dictionary.set("tune", "zerolatency");
                context.gop_size = std::max(1, static_cast<int>(std::lround(2 * rate.value())));
                context.max_b_frames = 0;
            }
            break;
        }
        case VideoCodec::ffv1:
            context.gop_size = 1;
            // Pictures too small to be cut into slices need the version that has none, which has no checksums either.
            if (frame.width < 16 || frame.height < 16) {
                dictionary.set("level", 1);
                break;
            }
            dictionary.set("level", 3);
            dictionary.set("slicecrc", 1);
            dictionary.set("slices", 4);
            break;
        case VideoCodec::mjpeg:
        case VideoCodec::jpeg:
            context.flags |= AV_CODEC_FLAG_QSCALE;
            context.global_quality = FF_QP2LAMBDA * (codec == VideoCodec::jpeg ? 2 : 3);
            break;
    }
    if (const int error = avcodec_open2(&context, &encoder, dictionary.address()); error < 0)
        fail(ErrorCode::usage, "{} does not take {}: {}", encoder.name, to_string(frame), ffmpeg_error(error));
}

void VideoEncoder::encode(HostView<const std::uint8_t> image, std::int64_t pts, const Deliver& deliver) {
    if (!av_frame_is_writable(frame_.get())) {  // the encoder still holds it
        frame_ = make_frame(context_->pix_fmt, context_->width, context_->height);
        tag(*frame_, coding_);
    }
    converter_.to_frame(image, *frame_);
    send(pts, deliver);
}

void VideoEncoder::repeat(std::int64_t pts, const Deliver& deliver) {
    send(pts, deliver);  // the pixels are still there: encode() makes a new frame where the encoder holds this one
}

void VideoEncoder::send(std::int64_t pts, const Deliver& deliver) {
    frame_->pts = pts;
    frame_->quality = context_->global_quality;
    if (const int error = avcodec_send_frame(context_.get(), frame_.get()); error < 0)
        fail(ErrorCode::io, "encoding failed: {}", ffmpeg_error(error));
    drain(deliver);
}

void VideoEncoder::flush(const Deliver& deliver) {
    if (const int error = avcodec_send_frame(context_.get(), nullptr); error < 0 && error != AVERROR_EOF)
        fail(ErrorCode::io, "encoding failed: {}", ffmpeg_error(error));
    drain(deliver);
}

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
