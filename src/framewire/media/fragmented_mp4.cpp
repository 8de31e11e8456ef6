#include "framewire/media/fragmented_mp4.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

// Renumbering works in every build, and packing in builds with FFmpeg.

namespace framewire {
namespace {

// Reads a big-endian number of `bytes` bytes.
std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes; ++i) number = number << 8 | static_cast<unsigned char>(text[at + i]);
    return number;
}

void put_number(std::string& text, std::size_t at, std::size_t bytes, std::uint64_t number) {
    for (std::size_t i = bytes; i-- > 0; number >>= 8) text[at + i] = static_cast<char>(number & 0xff);
}

// Position and size of the time of a track in a fragment, and the position of the type of its box traf.
struct TrackTime {
    std::size_t track, at, bytes, traf;
};

std::vector<TrackTime> times_in(std::string_view fragment) {
    std::vector<TrackTime> times;
    const auto moof = fragment.substr(0, number_at(fragment, 0, 4));
    constexpr std::size_t version_after = 4, number_after = 8, traf_before = 8;
    for (auto tfhd = moof.find("tfhd"); tfhd != std::string_view::npos; tfhd = moof.find("tfhd", tfhd + 1)) {
        const auto tfdt = moof.find("tfdt", tfhd);
        if (tfdt == std::string_view::npos || moof.size() < tfdt + number_after + 8) return {};
        times.push_back({number_at(moof, tfhd + number_after, 4), tfdt + number_after,
                         moof[tfdt + version_after] == 1 ? std::size_t{8} : 4, tfhd - traf_before});
    }
    return times;
}

}  // namespace

bool is_mp4_sound(SoundCodec codec) { return codec == SoundCodec::aac || codec == SoundCodec::opus; }

// A fragment begins with moof(mfhd(sequence number), traf(tfhd(track), tfdt(time), trun) ...), and the header has the
// timescales, in moov(... mdhd(... timescale ...)) for each track; see ISO/IEC 14496-12, 8.4.2 and 8.8. A full box has
// its size, its type, a version and flags, 4 bytes each for size and type, 1 and 3 for the others. These parts come
// from Mp4Fragments, so searching them for a type finds the box.
std::shared_ptr<const std::string> Mp4Renumbering::apply(std::shared_ptr<const std::string> part) {
    constexpr std::size_t type_at = 4, header_bytes = 8, sequence_at = 2 * header_bytes + 4, version_after = 4;
    const auto has = [&](std::size_t at, std::string_view type) { return part->compare(at, type.size(), type) == 0; };
    if (part->size() >= header_bytes && has(type_at, "ftyp")) {
        constexpr std::size_t timescale_after = 16;
        timescales_.clear();
        for (auto at = part->find("mdhd"); at != std::string::npos; at = part->find("mdhd", at + 1))
            if (part->size() >= at + timescale_after + 4 && (*part)[at + version_after] == 0)
                timescales_.push_back(static_cast<std::uint32_t>(number_at(*part, at + timescale_after, 4)));
        return part;
    }
    if (part->size() < sequence_at + 4 || !has(type_at, "moof") || !has(header_bytes + type_at, "mfhd")) return part;
    const auto times = times_in(*part);
    if (times.empty()) return part;
    constexpr auto clock = static_cast<std::uint64_t>(video_clock_hz);
    const auto timescale_of = [&](const TrackTime& time) {
        const bool is_known = time.track >= 1 && time.track <= timescales_.size() && timescales_[time.track - 1] > 0;
        return is_known ? std::uint64_t{timescales_[time.track - 1]} : clock;
    };
    // The first track is that of the pictures.
    if (!start_) start_ = number_at(*part, times.front().at, times.front().bytes) * clock / timescale_of(times.front());
    auto renumbered = std::make_shared<std::string>(*part);
    put_number(*renumbered, sequence_at, 4, ++sequence_);
    for (const auto& time : times) {
        const auto ticks = number_at(*part, time.at, time.bytes), start = *start_ * timescale_of(time) / clock;
        put_number(*renumbered, time.at, time.bytes, ticks - std::min(ticks, start));
        // Players skip the box of sound from before the first picture. Its samples stay where they are.
        if (ticks < start && has(time.traf, "traf")) renumbered->replace(time.traf, 4, "free");
    }
    return renumbered;
}

}  // namespace framewire

#ifdef FRAMEWIRE_FFMPEG

#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/ffmpeg/output.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

extern "C" {
#include <libavutil/mem.h>
}

namespace framewire {
namespace {

// AVIOContext that appends to a string.
class StringIo {
public:
    StringIo() {
        constexpr int buffer_bytes = 1 << 16;
        auto* buffer = static_cast<unsigned char*>(av_malloc(buffer_bytes));
        context_ =
            buffer ? avio_alloc_context(buffer, buffer_bytes, 1, this, nullptr, &StringIo::write, nullptr) : nullptr;
        if (!context_) {
            av_free(buffer);
            fail(ErrorCode::config, "not enough memory to write MP4");
        }
    }
    ~StringIo() {
        av_freep(&context_->buffer);
        avio_context_free(&context_);
    }
    StringIo(const StringIo&) = delete;
    StringIo& operator=(const StringIo&) = delete;

    AVIOContext* context() const { return context_; }
    // Returns everything that was written since the last call.
    std::string take() {
        avio_flush(context_);
        failure_.rethrow();
        return std::exchange(text_, {});
    }

private:
    static int write(void* self, std::uint8_t* data, int bytes) {
        auto& io = *static_cast<StringIo*>(self);
        return static_cast<int>(io.failure_.guard([&]() -> std::int64_t {
            io.text_.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(bytes));
            return bytes;
        }));
    }

    AVIOContext* context_ = nullptr;
    std::string text_;
    CallbackFailure failure_;
};

// Returns the parameter sets as a byte stream, from which the muxer makes the box avcC.
std::string parameter_sets(const VideoFormat& format) {
    const std::string start("\0\0\0\1", 4);
    return start + format.sps + start + format.pps;
}

}  // namespace

struct Mp4Fragments::State {
    State(const VideoFormat& video, const std::shared_ptr<const SoundFormat>& sound_format) : sound(sound_format) {
        initialise_ffmpeg();
        AVFormatContext* opened = nullptr;
        if (avformat_alloc_output_context2(&opened, nullptr, "mp4", nullptr) < 0)
            fail(ErrorCode::config, "this FFmpeg cannot write MP4");
        format.reset(opened);
        format->pb = io.context();
        format->flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT;
        auto* stream = avformat_new_stream(opened, nullptr);
        if (!stream) fail(ErrorCode::config, "not enough memory to write MP4");
        auto& parameters = *stream->codecpar;
        parameters.codec_type = AVMEDIA_TYPE_VIDEO;
        parameters.codec_id = AV_CODEC_ID_H264;
        parameters.width = video.width;
        parameters.height = video.height;
        set_header(parameters, parameter_sets(video));
        stream->time_base = {1, static_cast<int>(video_clock_hz)};
        stream->avg_frame_rate = {static_cast<int>(video.rate.numerator), static_cast<int>(video.rate.denominator)};
        if (sound) add_track(*sound);
        Dictionary options;
        // A fragment ends when av_write_frame() is called without a packet. With frag_every_frame it would end only
        // with the next picture.
        options.set("movflags", "empty_moov+default_base_moof+frag_custom+skip_trailer");
        options.set("video_track_timescale", video_clock_hz);
        if (const int error = avformat_write_header(opened, options.address()); error < 0)
            fail(ErrorCode::io, "cannot write MP4: {}", ffmpeg_error(error));
        header = io.take();
    }

    static void set_header(AVCodecParameters& parameters, const std::string& bytes) {
        parameters.extradata = static_cast<std::uint8_t*>(av_mallocz(bytes.size() + AV_INPUT_BUFFER_PADDING_SIZE));
        if (!parameters.extradata) fail(ErrorCode::config, "not enough memory to write MP4");
        std::memcpy(parameters.extradata, bytes.data(), bytes.size());
        parameters.extradata_size = static_cast<int>(bytes.size());
    }

    void add_track(const SoundFormat& track) {
        if (!is_mp4_sound(track.codec)) fail(ErrorCode::config, "MP4 cannot hold {}", to_string(track.codec));
        auto* stream = avformat_new_stream(format.get(), nullptr);
        if (!stream) fail(ErrorCode::config, "not enough memory to write MP4");
        auto& parameters = *stream->codecpar;
        parameters.codec_type = AVMEDIA_TYPE_AUDIO;
        parameters.codec_id = track.codec == SoundCodec::aac ? AV_CODEC_ID_AAC : AV_CODEC_ID_OPUS;
        parameters.sample_rate = track.sample_rate;
        av_channel_layout_default(&parameters.ch_layout, track.channels);
        set_header(parameters, track.header);
        stream->time_base = {1, track.sample_rate};
    }

    // Writes a packet into the next fragment.
    void write(int stream, const std::string& bytes, std::int64_t time, std::int64_t duration, bool key,
               std::int64_t shown_after = 0) {
        // The muxer copies the data: the packet has no reference to it.
        packet->data = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
        packet->size = static_cast<int>(bytes.size());
        packet->dts = time;
        packet->pts = time + shown_after;
        packet->duration = duration;
        packet->flags = key ? AV_PKT_FLAG_KEY : 0;
        packet->stream_index = stream;
        const int error = av_write_frame(format.get(), packet.get());
        av_packet_unref(packet.get());
        if (error < 0) fail(ErrorCode::io, "cannot write MP4: {}", ffmpeg_error(error));
    }

    std::shared_ptr<const SoundFormat> sound;
    std::int64_t sound_end = 0;                 // of the last packet, in samples
    std::optional<std::int64_t> sound_start{};  // of the first packet, in samples
    std::optional<std::int64_t> sound_begin{};  // of the fragment that is packed, in samples
    StringIo io;                                // outlives `format`, which refers to it
    OutputPointer format;
    PacketPointer packet = make_packet();
    std::string header;
    std::int64_t offset = 0;  // time of the first picture
    std::int64_t end = 0;     // end of the last fragment
    bool begun = false;
};

Mp4Fragments::Mp4Fragments(const VideoFormat& format, const std::shared_ptr<const SoundFormat>& sound)
    : state_(std::make_unique<State>(format, sound)) {}
Mp4Fragments::~Mp4Fragments() = default;

const std::string& Mp4Fragments::header() const { return state_->header; }

Mp4Fragment Mp4Fragments::pack(const AccessUnit& unit) {
    auto& state = *state_;
    if (!std::exchange(state.begun, true)) state.offset = unit.pts;
    Mp4Fragment fragment{.start = state.end};
    const auto pts = unit.pts - state.offset;
    // Decoding times have no gaps, although the time of the next picture is unknown. Beside sound, the exact time
    // counts: decoding is half a picture ahead, and the difference is the picture's composition time offset.
    const auto nominal = state.sound ? unit.duration / 2 : unit.duration;
    fragment.duration = std::max<std::int64_t>(1, pts + nominal - state.end);
    const auto shown_after = state.sound ? std::max<std::int64_t>(0, pts - fragment.start) : 0;
    state.write(0, unit.bytes, fragment.start, fragment.duration, unit.key, shown_after);
    if (const int error = av_write_frame(state.format.get(), nullptr); error < 0)
        fail(ErrorCode::io, "cannot write MP4: {}", ffmpeg_error(error));
    state.end += fragment.duration;
    fragment.bytes = state.io.take();
    // For the muxer, the track starts with its first sound.
    if (const auto first = std::exchange(state.sound_begin, std::nullopt))
        for (const auto& time : times_in(fragment.bytes))
            if (time.track == 2) put_number(fragment.bytes, time.at, time.bytes, static_cast<std::uint64_t>(*first));
    return fragment;
}

// Times of units are rounded to ticks, so one that starts about where the previous one ends starts exactly there.
void Mp4Fragments::add(const SoundUnit& unit) {
    auto& state = *state_;
    const auto& packet = *unit.packet;
    if (!state.sound || !(*state.sound == *packet.format) || !state.begun || unit.pts < state.offset) return;
    const std::int64_t rate = state.sound->sample_rate, nearly = rate / 1000;
    auto time = ((unit.pts - state.offset) * rate + video_clock_hz / 2) / video_clock_hz;
    if (std::abs(time - state.sound_end) <= nearly) time = state.sound_end;
    if (time < state.sound_end) return;
    if (!state.sound_start) state.sound_start = time;
    state.write(1, packet.bytes, time - *state.sound_start, packet.samples, true);
    state.sound_end = time + packet.samples;
    if (!state.sound_begin) state.sound_begin = time;
}

}  // namespace framewire

#else

namespace framewire {

struct Mp4Fragments::State {};

Mp4Fragments::Mp4Fragments(const VideoFormat&, const std::shared_ptr<const SoundFormat>&) {
    fail(ErrorCode::config, "this build cannot write MP4: it was built without FFmpeg");
}
Mp4Fragments::~Mp4Fragments() = default;

const std::string& Mp4Fragments::header() const { fail(ErrorCode::internal, "there is no muxer"); }
Mp4Fragment Mp4Fragments::pack(const AccessUnit&) { fail(ErrorCode::internal, "there is no muxer"); }
void Mp4Fragments::add(const SoundUnit&) { fail(ErrorCode::internal, "there is no muxer"); }

}  // namespace framewire

#endif
