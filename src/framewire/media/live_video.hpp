#pragma once

#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace framewire {

/// Ticks per second of the timestamps of coded video, as in RTP (RFC 6184).
inline constexpr std::int64_t video_clock_hz = 90'000;

/// Properties of an H.264 stream.
struct VideoFormat {
    /// Size in pixels; both sides are even.
    int width = 0, height = 0;
    /// Nominal frames per second.
    Rational rate{};
    /// Codec as in RFC 6381, such as "avc1.64001F".
    std::string codec{};
    /// Parameter sets without start codes (ITU-T H.264, 7.3.2.1 and 7.3.2.2).
    std::string sps{}, pps{};
};

/// One coded H.264 picture.
struct AccessUnit {
    /// Byte stream with start codes (ITU-T H.264, Annex B). Key pictures include SPS and PPS.
    std::string bytes{};
    /// Presentation time in ticks of video_clock_hz. There are no B-pictures, so it is also the decoding time.
    std::int64_t pts = 0;
    /// Expected display duration in ticks.
    std::int64_t duration = 0;
    /// True if decoding can start with this picture (IDR).
    bool key = false;
    /// Version of the camera's picture, see service::LiveCamera::picture_version().
    std::uint64_t picture_version = 0;
};

/// Settings of live H.264 video.
struct LiveVideoSettings {
    /// FFmpeg's name of an H.264 encoder.
    std::string codec = "libx264";
    /// Constant quality on the encoder's own scale, unless `bitrate` is set. Default: 23 for libx264, and the default
    /// of file output for other encoders.
    std::optional<double> crf{};
    /// Bits per second.
    std::optional<std::int64_t> bitrate{};
    /// The encoder's preset; empty: veryfast for libx264, otherwise the encoder's default.
    std::string preset{};
    /// Maximum number of frames from one keyframe to the next. Default: as many as two seconds have.
    std::optional<int> gop{};
};

/// Parses "codec=h264_nvenc:bitrate=2M:gop=60"; a blank text gives the defaults. Throws Error{usage} if it is malformed
/// or both crf and bitrate are given. `who` names the text in messages.
LiveVideoSettings parse_live_video(const std::string& text, const std::string& who);

/// Opens the encoder and closes it again. Throws Error{usage} if there is no H.264 encoder of that name or it does not
/// accept the settings, and Error{config} if this machine or this build has no such encoder.
void check_live_video(const LiveVideoSettings& settings);

/// Encodes images as H.264 with low delay and without B-pictures. Use an object from one thread.
class LiveEncoder {
public:
    /// Opens the encoder for images of `shape`, at least 2x2. 4:2:0 needs even sides, so the last column or row of an
    /// odd size is cropped. Throws as check_live_video() does.
    LiveEncoder(const LiveVideoSettings& settings, const Shape& shape, Rational rate);
    ~LiveEncoder();
    LiveEncoder(const LiveEncoder&) = delete;
    LiveEncoder& operator=(const LiveEncoder&) = delete;

    /// Returns FFmpeg's name of the encoder.
    const std::string& name() const;
    /// Returns the stream's properties. `codec` and the parameter sets are empty before the first access unit.
    const VideoFormat& format() const;

    /// Receives coded pictures in order.
    using Deliver = std::function<void(AccessUnit&& unit)>;
    /// Encodes an image. `pts` must increase. With `key`, the picture becomes a key picture. `version` is stored in the
    /// access unit. Delivers the access units that are ready: with most encoders the one of this image. Throws
    /// Error{io}.
    void encode(HostView<const std::uint8_t> image, std::int64_t pts, bool key, std::uint64_t version,
                const Deliver& deliver);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire
