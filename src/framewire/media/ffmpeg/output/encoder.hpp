#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/conversion/colour.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/pipeline/source.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace framewire {

enum class VideoCodec {
    h264,       ///< lossy, 4:2:0 (4:4:4 where a side is odd), limited range, tagged
    h264_live,  ///< the same with low delay and a key frame every 2 s
    ffv1,       ///< lossless: the same bytes come back, BGR and gray
    mjpeg,      ///< JPEG pictures, 4:2:0, full range, BT.601
    jpeg        ///< a JPEG still: 4:4:4 and better quality
};

/// Images to packets of one codec.
class VideoEncoder {
public:
    /// Throws Error{config} when this FFmpeg has no such encoder, Error{usage} when it does not take the shape.
    VideoEncoder(VideoCodec codec, const Shape& frame, Rational rate, AVRational time_base, int threads,
                 bool global_header);

    using Deliver = std::function<void(AVPacket&)>;

    /// Encodes `image` for time `pts`, larger than the one before; hands over what is ready. Throws Error{io}.
    void encode(HostView<const std::uint8_t> image, std::int64_t pts, const Deliver& deliver);
    /// Encodes the image before once more, for time `pts`. Throws Error{io}.
    void repeat(std::int64_t pts, const Deliver& deliver);
    /// Hands over what is left.
    void flush(const Deliver& deliver);

    const AVCodecContext& context() const { return *context_; }

private:
    void send(std::int64_t pts, const Deliver& deliver);
    void drain(const Deliver& deliver);

    CodecPointer context_;
    YuvCoding coding_;
    FramePointer frame_;
    PacketPointer packet_ = make_packet();
    PictureConverter converter_;
};

}  // namespace framewire
