#include "framewire/media/live_video.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/sinks.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

// Live H.264: parsing of the settings in every build, and the encoder in builds with FFmpeg.

namespace framewire {
namespace {

std::vector<ParameterInfo> live_video_parameters() {
    std::vector<ParameterInfo> parameters{
        {.name = "codec",
         .help = "FFmpeg name of an H.264 encoder: libx264, h264_nvenc, h264_vaapi, h264_qsv, h264_v4l2m2m",
         .type = ParameterInfo::Type::text,
         .default_value = "libx264"}};
    std::ranges::move(encoder_parameters(), std::back_inserter(parameters));
    return parameters;
}

}  // namespace

LiveVideoSettings parse_live_video(const std::string& text, const std::string& who) {
    const auto parameters = live_video_parameters();
    const auto values = parse_parameters(text, {.who = who, .parameters = parameters});
    LiveVideoSettings settings{.codec = values.text("codec")};
    if (values.has("crf")) settings.crf = values.real("crf");
    settings.bitrate = encoder_bitrate(values, who);
    if (values.has("preset")) settings.preset = values.text("preset");
    if (values.has("gop")) settings.gop = static_cast<int>(values.integer("gop"));
    return settings;
}

}  // namespace framewire

#ifdef FRAMEWIRE_FFMPEG

#include "framewire/core/text.hpp"
#include "framewire/media/ffmpeg/encoder.hpp"
#include "framewire/media/ffmpeg/libav.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <thread>

namespace framewire {
namespace {

// Quality of libx264 if none is chosen: about half the bytes of crf 20, the default of files.
constexpr double x264_crf = 23;

// Size at which check_live_video() opens the encoder; hardware encoders have minimum sizes.
constexpr Shape probe_shape{1, 480, 640, 3};

// Threads for one encoder. With zero latency, x264 codes one slice per thread, and each slice costs some quality.
int encoder_threads(const Shape& shape) {
    constexpr std::int64_t pixels_per_thread = 640 * 480;
    const auto wanted = std::int64_t{shape.width} * shape.height / pixels_per_thread;
    const auto machine = std::max(1U, std::thread::hardware_concurrency());
    return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::min(machine, 8U)));
}

EncoderChoice choice_of(const LiveVideoSettings& settings) {
    EncoderChoice choice{.codec = settings.codec,
                         .crf = settings.crf,
                         .bitrate = settings.bitrate,
                         .preset = settings.preset,
                         .gop = settings.gop,
                         .live = true};
    const auto& encoder = find_encoder(choice);
    if (encoder.id != AV_CODEC_ID_H264)
        fail(ErrorCode::usage,
             "codec '{}' does not encode H.264; allowed are FFmpeg's H.264 encoders, such as libx264 "
             "and h264_nvenc",
             settings.codec);
    if (std::string_view(encoder.name) == "libx264" && !choice.crf && !choice.bitrate) choice.crf = x264_crf;
    return choice;
}

// Returns the image without the last column or row if its width or height is odd.
Shape even(const Shape& shape) { return {shape.frames, shape.height & ~1, shape.width & ~1, shape.channels}; }

VideoEncoder open_encoder(const LiveVideoSettings& settings, const Shape& shape, Rational rate) {
    initialise_ffmpeg();
    return {choice_of(settings),
            {.shape = shape, .rate = rate, .time_base = {1, static_cast<int>(video_clock_hz)}},
            encoder_threads(shape),
            false};
}

// Calls `body` with each NAL unit of a byte stream, without its start code (ITU-T H.264, Annex B).
template <class Body>
void for_each_nal_unit(std::string_view bytes, Body&& body) {
    constexpr std::string_view start("\0\0\1", 3);
    auto begin = bytes.find(start);
    while (begin != std::string_view::npos) {
        begin += start.size();
        const auto next = bytes.find(start, begin);
        auto unit = bytes.substr(begin, next == std::string_view::npos ? next : next - begin);
        // Zeros before the next start code belong to it; a NAL unit never ends with one (7.4.1).
        while (!unit.empty() && unit.back() == 0) unit.remove_suffix(1);
        if (!unit.empty()) body(unit);
        begin = next;
    }
}

// Types of NAL units (ITU-T H.264, table 7-1).
constexpr int sps_type = 7, pps_type = 8;

int type_of(std::string_view unit) { return static_cast<unsigned char>(unit.front()) & 31; }

}  // namespace

struct LiveEncoder::State {
    State(const LiveVideoSettings& settings, const Shape& shape, Rational rate)
        : encoder(open_encoder(settings, even(shape), rate)),
          name(encoder.context().codec->name),
          format{.width = encoder.context().width, .height = encoder.context().height, .rate = rate} {}

    // Stores the parameter sets of a key picture. Prepends those of an earlier one if the encoder left them out.
    void complete(AccessUnit& unit) {
        bool has_sets = false;
        for_each_nal_unit(unit.bytes, [&](std::string_view nal) {
            if (type_of(nal) == sps_type) format.sps = nal, has_sets = true;
            if (type_of(nal) == pps_type) format.pps = nal;
        });
        if (format.sps.size() < 4 || format.pps.empty())
            fail(ErrorCode::io, "the encoder {} wrote no parameter sets", name);
        const auto byte = [this](std::size_t at) { return static_cast<unsigned char>(format.sps[at]); };
        format.codec = fmt::format("avc1.{:02X}{:02X}{:02X}", byte(1), byte(2), byte(3));
        constexpr std::string_view start("\0\0\0\1", 4);
        if (!has_sets)
            unit.bytes = std::string(start) + format.sps + std::string(start) + format.pps + std::move(unit.bytes);
    }

    VideoEncoder encoder;
    std::string name;
    VideoFormat format;
    std::deque<std::pair<std::int64_t, std::uint64_t>> versions;  // by time, of images that the encoder still holds
};

LiveEncoder::LiveEncoder(const LiveVideoSettings& settings, const Shape& shape, Rational rate)
    : state_(std::make_unique<State>(settings, shape, rate)) {}
LiveEncoder::~LiveEncoder() = default;

const std::string& LiveEncoder::name() const { return state_->name; }
const VideoFormat& LiveEncoder::format() const { return state_->format; }

void LiveEncoder::encode(HostView<const std::uint8_t> image, std::int64_t pts, bool key, std::uint64_t version,
                         const Deliver& deliver) {
    auto& state = *state_;
    const HostView<const std::uint8_t> cropped(image.data(), even(image.shape()), image.row_stride_bytes(),
                                               image.frame_stride_bytes());
    state.versions.emplace_back(pts, version);
    if (key) state.encoder.force_key();
    const auto duration =
        static_cast<std::int64_t>(std::lround(static_cast<double>(video_clock_hz) / state.format.rate.value()));
    state.encoder.encode(cropped, pts, [&](AVPacket& packet) {
        AccessUnit unit{
            .bytes = std::string(reinterpret_cast<const char*>(packet.data), static_cast<std::size_t>(packet.size)),
            .pts = packet.pts,
            .duration = duration,
            .key = (packet.flags & AV_PKT_FLAG_KEY) != 0};
        while (!state.versions.empty() && state.versions.front().first <= packet.pts) {
            unit.picture_version = state.versions.front().second;
            state.versions.pop_front();
        }
        if (unit.key) state.complete(unit);
        deliver(std::move(unit));
    });
}

void check_live_video(const LiveVideoSettings& settings) {
    constexpr Rational rate{30, 1};
    static_cast<void>(LiveEncoder(settings, probe_shape, rate));
}

}  // namespace framewire

#else

namespace framewire {

struct LiveEncoder::State {};

void check_live_video(const LiveVideoSettings&) {
    fail(ErrorCode::config, "this build has no H.264 encoder: it was built without FFmpeg");
}

LiveEncoder::LiveEncoder(const LiveVideoSettings& settings, const Shape&, Rational) { check_live_video(settings); }
LiveEncoder::~LiveEncoder() = default;

const std::string& LiveEncoder::name() const { fail(ErrorCode::internal, "there is no encoder"); }
const VideoFormat& LiveEncoder::format() const { fail(ErrorCode::internal, "there is no encoder"); }
void LiveEncoder::encode(HostView<const std::uint8_t>, std::int64_t, bool, std::uint64_t, const Deliver&) {
    fail(ErrorCode::internal, "there is no encoder");
}

}  // namespace framewire

#endif
