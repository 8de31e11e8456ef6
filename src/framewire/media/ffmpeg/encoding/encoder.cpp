// Video encoder for images, native frames and planes. The three entry points differ in how the frame gets its pixels:
//
//    encode()         images are converted into a frame that is reused
//    encode_own()     the frame refers to the decoder's buffers
//    encode_planes()  the frame refers to planes that framewire converted

#include "framewire/media/ffmpeg/encoding/encoder.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <thread>

namespace framewire {
namespace {

// Colour coding for the encoder's pictures. Limited-range coding of the medium is kept; otherwise the coding is the
// one that readers assume if they ignore tags.
YuvCoding coding_for(const AVCodec& encoder, AVPixelFormat format, int height, const PictureFacts& facts) {
    const auto* descriptor = av_pix_fmt_desc_get(format);
    const bool is_of_rgb = descriptor && (descriptor->flags & AV_PIX_FMT_FLAG_RGB);
    if (encoder.id == AV_CODEC_ID_MJPEG || is_of_rgb || is_gray(format)) return {YuvMatrix::bt601, true};
    if (encoder.id == AV_CODEC_ID_WEBP) return {YuvMatrix::bt601, false};  // WebP has no colour tags
    if (facts.coding && !facts.coding->full_range) return *facts.coding;
    return assumed_coding(height);
}

// Copies the tags to the encoder, with primaries and transfer of the medium or the defaults for the matrix.
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
    if (!context_) fail(ErrorCode::config, "no memory for an encoder");
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
        fail(ErrorCode::usage, "{} does not take {}: {}", encoder.name, to_string(shape), why);
    }
    frame_->quality = context.global_quality;
}

// A frame in the format that images are converted to. For hardware and palette encoders this differs from the
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

// Only planar pictures without conversion can be passed on: same format, size and coding, and chroma at the left
// position, which is what tag_context() declares. 4:4:4 has no chroma position.
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
    if (!av_frame_is_writable(frame_.get())) frame_ = empty_frame();  // the encoder still uses it
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
        if (!frame_->buf[plane]) fail(ErrorCode::config, "no memory for a picture");
    }
    tag_as_encoded(*frame_);
    send(pts, deliver);
}

void VideoEncoder::encode_planes(const std::shared_ptr<const YuvPicture>& picture, std::int64_t pts,
                                 const Deliver& deliver) {
    // The encoder may keep the picture for a while: one AVBuffer owns the planes of the shared picture.
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
    if (!frame_->buf[0]) fail(ErrorCode::config, "no memory for a picture");
    static_cast<void>(held.release());  // now owned by the buffer
    tag_as_encoded(*frame_);
    send(pts, deliver);
}

void VideoEncoder::repeat(std::int64_t pts, const Deliver& deliver) {
    send(pts, deliver);  // the pixels are unchanged: encode() makes a new frame while the encoder holds this one
}

// Converts to a palette or uploads if the encoder needs it, then encodes.
void VideoEncoder::send(std::int64_t pts, const Deliver& deliver) {
    frame_->pts = pts;
    frame_->quality = context_->global_quality;
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
