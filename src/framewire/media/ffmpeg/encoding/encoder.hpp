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

/// Images to packets of one codec.
class VideoEncoder {
public:
    struct Frames {
        Shape shape{};
        Rational rate{};
        AVRational time_base{};
        PictureFacts facts{};  ///< of the medium that they come from, as far as known
    };

    /// Throws Error{config} when this machine has no such encoder, Error{usage} when it does not take the shape or what
    /// was chosen.
    VideoEncoder(const EncoderChoice& choice, const Frames& frames, int threads, bool global_header);

    using Deliver = std::function<void(AVPacket&)>;

    /// Encodes `image` for time `pts`, larger than the one before; hands over what is ready. Throws Error{io}.
    void encode(HostView<const std::uint8_t> image, std::int64_t pts, const Deliver& deliver);
    /// Encodes the medium's own picture of a frame, which takes() said yes to. Throws Error{io}.
    void encode_own(const AVFrame& picture, std::int64_t pts, const Deliver& deliver);
    /// What encode() makes of images, where that is planes made by ImageToYuv.
    std::optional<YuvInfo> planes() const { return planes_made_for(*frame_); }
    /// Encodes what encode() would have made. Throws Error{io}.
    void encode_planes(const std::shared_ptr<const YuvPicture>& picture, std::int64_t pts, const Deliver& deliver);
    /// Whether a picture is of the encoder's own format, size and colours.
    bool takes(const AVFrame& picture) const;
    /// Encodes the image before once more, for time `pts`. Throws Error{io}.
    void repeat(std::int64_t pts, const Deliver& deliver);
    /// Hands over what is left.
    void flush(const Deliver& deliver);

    const AVCodecContext& context() const { return *context_; }

private:
    void send(std::int64_t pts, const Deliver& deliver);
    void drain(const Deliver& deliver);

    FramePointer empty_frame() const;
    void tag_as_encoded(AVFrame& frame) const;

    CodecPointer context_;
    YuvCoding coding_;
    FramePointer frame_;
    std::unique_ptr<GifPalette> palette_;       // of pictures with few colours
    std::unique_ptr<HardwareFrames> hardware_;  // of an encoder that reads its device's memory
    PacketPointer packet_ = make_packet();
    PictureConverter converter_;
};

}  // namespace framewire
