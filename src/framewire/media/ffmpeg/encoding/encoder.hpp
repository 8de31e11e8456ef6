#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/conversion/colour.hpp"
#include "framewire/media/ffmpeg/encoding/encoder_choice.hpp"
#include "framewire/media/ffmpeg/encoding/gif_palette.hpp"
#include "framewire/media/ffmpeg/encoding/hardware_frames.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/pipeline/source.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace framewire {

/// Encodes images as packets of one codec. Use an object from one thread.
class VideoEncoder {
public:
    /// Properties of the frames to encode.
    struct Frames {
        Shape shape{};
        Rational rate{};
        AVRational time_base{};
        PictureFacts facts{};  ///< facts of the medium that they come from, as far as known
    };

    /// Opens the encoder; `global_header` stores codec parameters in the container instead of the packets. Throws
    /// Error{config} if this machine has no such encoder, Error{usage} if it does not accept the shape or the chosen
    /// settings.
    VideoEncoder(const EncoderChoice& choice, const Frames& frames, int threads, bool global_header);

    /// Receives finished packets; the packet is valid during the call.
    using Deliver = std::function<void(AVPacket&)>;

    /// Encodes `image` with timestamp `pts`, which must increase; delivers the packets that are ready. Throws
    /// Error{io}.
    void encode(HostView<const std::uint8_t> image, std::int64_t pts, const Deliver& deliver);
    /// Encodes the native frame of the medium, for which takes() returned true. Throws Error{io}.
    void encode_own(const AVFrame& picture, std::int64_t pts, const Deliver& deliver);
    /// Description of the planes that encode() makes from images; nullopt if it does not use ImageToYuv.
    std::optional<YuvInfo> planes() const { return planes_made_for(*frame_); }
    /// Encodes planes identical to those that encode() would make. Throws Error{io}.
    void encode_planes(const std::shared_ptr<const YuvPicture>& picture, std::int64_t pts, const Deliver& deliver);
    /// True if a picture has the encoder's format, size and colour coding.
    bool takes(const AVFrame& picture) const;
    /// Encodes the previous image again with timestamp `pts`. Throws Error{io}.
    void repeat(std::int64_t pts, const Deliver& deliver);
    /// Delivers the remaining packets; nothing can be encoded afterwards.
    void flush(const Deliver& deliver);

    /// The open encoder.
    const AVCodecContext& context() const { return *context_; }

private:
    // Encodes frame_.
    void send(std::int64_t pts, const Deliver& deliver);
    // Delivers packets that are ready.
    void drain(const Deliver& deliver);

    // A new frame in the format of images.
    FramePointer empty_frame() const;
    // Sets the colour tags of the output.
    void tag_as_encoded(AVFrame& frame) const;

    CodecPointer context_;
    YuvCoding coding_;
    FramePointer frame_;
    std::unique_ptr<GifPalette> palette_;       // only for formats with a palette
    std::unique_ptr<HardwareFrames> hardware_;  // only for encoders that read device memory
    PacketPointer packet_ = make_packet();
    PictureConverter converter_;
};

}  // namespace framewire
