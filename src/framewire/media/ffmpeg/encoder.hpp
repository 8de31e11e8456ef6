#pragma once

#include "framewire/core/parameters.hpp"
#include "framewire/core/view.hpp"
#include "framewire/media/conversion.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/sinks.hpp"
#include "framewire/plan/source.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace framewire {

/// Encoder and its settings: the choices of the user, with defaults for everything else.
struct EncoderChoice {
    std::string codec{};          ///< FFmpeg's name of an encoder or a codec
    std::optional<double> crf{};  ///< constant quality, on the encoder's own scale
    std::optional<std::int64_t> bitrate{};
    std::string preset{}, tune{};  ///< empty: chosen automatically
    std::optional<int> gop{};      ///< maximum number of frames from one key frame to the next
    std::string pixels{};          ///< FFmpeg's name of a pixel format; empty: chosen automatically
    std::optional<int> quality{};  ///< quality of a still image, 1 to 100
    bool live = false;             ///< low delay, and a key frame every 2 s
    bool hurry = false;            ///< small enough effort to keep up with a camera

    /// Makes the choice from the parameters of a sink; `codec` is the default codec.
    static EncoderChoice from(const ParameterValues& values, const std::string& codec, bool live);
};

/// Finds the encoder by name. Throws Error{usage} with a suggestion if there is none.
const AVCodec& find_encoder(const EncoderChoice& choice);

/// Returns true if an encoder needs a hardware device, which this machine may lack.
bool is_hardware(const AVCodec& encoder);

/// Returns the pixel format for frames of a shape: the chosen one, or a suitable default. Throws Error{usage} if the
/// encoder does not accept the chosen format, or accepts none that can hold odd sizes.
AVPixelFormat pixel_format(const AVCodec& encoder, const EncoderChoice& choice, const Shape& frame);

/// Sets quality, speed and delay in `context` and in `dictionary`, the options for avcodec_open2(). Throws Error{usage}
/// if the encoder lacks a chosen setting.
void set_quality(const EncoderChoice& choice, AVCodecContext& context, Dictionary& dictionary);

/// Reduces pictures to 256 colours, chosen separately for each picture by FFmpeg's palettegen and paletteuse.
class GifPalette {
public:
    /// Prepares for BGR0 pictures of a shape. Throws Error{config} if this FFmpeg lacks the filters.
    GifPalette(const Shape& shape, AVRational time_base);

    /// Converts a picture to PAL8 and keeps its time. The result is valid until the next call. Throws Error{io}.
    const AVFrame& reduce(AVFrame& picture) { return graph_.run(picture); }

private:
    FilterGraph graph_;
};

}  // namespace framewire

extern "C" {
#include <libavutil/buffer.h>
}

#include <memory>

namespace framewire {

/// Frames in the memory of a VA-API device, from which its encoders read.
class HardwareFrames {
public:
    /// Opens the machine's VA-API device and makes `context`, which must not be open yet, use NV12 frames of that
    /// device with the context's size. Throws Error{config} if there is no device.
    explicit HardwareFrames(AVCodecContext& context);

    /// Copies an NV12 picture to the device and keeps its time. The result is valid until the next call.
    const AVFrame& upload(const AVFrame& picture);

private:
    struct FreeBuffer {
        void operator()(AVBufferRef* buffer) const noexcept { av_buffer_unref(&buffer); }
    };
    std::unique_ptr<AVBufferRef, FreeBuffer> device_, frames_;
    FramePointer uploaded_;
};

/// Encodes images as packets of one codec. Use an object from one thread.
class VideoEncoder {
public:
    /// Properties of the frames to encode.
    struct Frames {
        Shape shape{};
        Rational rate{};
        AVRational time_base{};
        PictureFacts facts{};  ///< colour tags and other facts of the source medium, if known
    };

    /// Opens the encoder; `global_header` stores codec parameters in the container instead of the packets. Throws
    /// Error{config} if this machine has no such encoder, Error{usage} if it does not accept the shape or the chosen
    /// settings.
    VideoEncoder(const EncoderChoice& choice, const Frames& frames, int threads, bool global_header);

    /// Function that receives finished packets; a packet is valid during the call.
    using Deliver = std::function<void(AVPacket&)>;

    /// Encodes `image` with timestamp `pts`, which must increase; delivers the packets that are ready. Throws
    /// Error{io}.
    void encode(HostView<const std::uint8_t> image, std::int64_t pts, const Deliver& deliver);
    /// Encodes a native frame of the medium, for which takes() returned true. Throws Error{io}.
    void encode_own(const AVFrame& picture, std::int64_t pts, const Deliver& deliver);
    /// Describes the planes that encode() makes from images; nullopt if it does not use ImageToYuv.
    std::optional<YuvInfo> planes() const { return planes_made_for(*frame_); }
    /// Encodes planes identical to those that encode() would make. Throws Error{io}.
    void encode_planes(const std::shared_ptr<const YuvPicture>& picture, std::int64_t pts, const Deliver& deliver);
    /// Returns true if a picture has the encoder's format, size and colour coding.
    bool takes(const AVFrame& picture) const;
    /// Makes the next picture a key frame from which decoding can start (H.264: an IDR picture).
    void force_key() { key_is_next_ = true; }
    /// Encodes the previous image again with timestamp `pts`. Throws Error{io}.
    void repeat(std::int64_t pts, const Deliver& deliver);
    /// Delivers the remaining packets; nothing can be encoded afterwards.
    void flush(const Deliver& deliver);

    /// The open encoder.
    const AVCodecContext& context() const { return *context_; }

private:
    // Encodes frame_.
    void send(std::int64_t pts, const Deliver& deliver);
    // Delivers the packets that are ready.
    void drain(const Deliver& deliver);

    // Allocates a frame in the format that images are converted to.
    FramePointer empty_frame() const;
    // Sets the colour tags of the output.
    void tag_as_encoded(AVFrame& frame) const;

    CodecPointer context_;
    YuvCoding coding_;
    FramePointer frame_;
    bool key_is_next_ = false;
    std::unique_ptr<GifPalette> palette_;       // set only for formats with a palette
    std::unique_ptr<HardwareFrames> hardware_;  // set only for encoders that read device memory
    PacketPointer packet_ = make_packet();
    PictureConverter converter_;
};

/// Returns the encoder for still images with the call's extension: 4:4:4 JPEG, WebP, TIFF or BMP.
EncodeImage still_encoder(const SinkCall& call);

}  // namespace framewire
