#include "framewire/media/fragmented_mp4.hpp"
#include "framewire/core/error.hpp"

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

}  // namespace

// A fragment begins with moof(mfhd(sequence number), traf(tfhd, tfdt(time), trun)); see ISO/IEC 14496-12, 8.8. A full
// box has its size, its type, a version and flags, 4 bytes each for size and type, 1 and 3 for the others.
std::shared_ptr<const std::string> Mp4Renumbering::apply(std::shared_ptr<const std::string> part) {
    constexpr std::size_t type_at = 4, header_bytes = 8, sequence_at = 2 * header_bytes + 4;
    const auto has = [&](std::size_t at, std::string_view type) { return part->compare(at, type.size(), type) == 0; };
    if (part->size() < sequence_at + 4 || !has(type_at, "moof") || !has(header_bytes + type_at, "mfhd")) return part;
    const auto tfdt = part->substr(0, number_at(*part, 0, 4)).find("tfdt");
    constexpr std::size_t version_after = 4, time_after = 8;
    if (tfdt == std::string::npos || part->size() < tfdt + time_after + 8) return part;
    const std::size_t time_bytes = (*part)[tfdt + version_after] == 1 ? 8 : 4;
    auto renumbered = std::make_shared<std::string>(*part);
    const auto time = number_at(*part, tfdt + time_after, time_bytes);
    if (!start_) start_ = time;
    put_number(*renumbered, sequence_at, 4, ++sequence_);
    put_number(*renumbered, tfdt + time_after, time_bytes, time - *start_);
    return renumbered;
}

}  // namespace framewire

#ifdef FRAMEWIRE_FFMPEG

#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/ffmpeg/output.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

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
    explicit State(const VideoFormat& video) {
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
        const auto sets = parameter_sets(video);
        parameters.extradata = static_cast<std::uint8_t*>(av_mallocz(sets.size() + AV_INPUT_BUFFER_PADDING_SIZE));
        if (!parameters.extradata) fail(ErrorCode::config, "not enough memory to write MP4");
        std::memcpy(parameters.extradata, sets.data(), sets.size());
        parameters.extradata_size = static_cast<int>(sets.size());
        stream->time_base = {1, static_cast<int>(video_clock_hz)};
        stream->avg_frame_rate = {static_cast<int>(video.rate.numerator), static_cast<int>(video.rate.denominator)};
        Dictionary options;
        // A fragment ends when av_write_frame() is called without a packet. With frag_every_frame it would end only
        // with the next picture.
        options.set("movflags", "empty_moov+default_base_moof+frag_custom+skip_trailer");
        options.set("video_track_timescale", video_clock_hz);
        if (const int error = avformat_write_header(opened, options.address()); error < 0)
            fail(ErrorCode::io, "cannot write MP4: {}", ffmpeg_error(error));
        header = io.take();
    }

    StringIo io;  // outlives `format`, which refers to it
    OutputPointer format;
    PacketPointer packet = make_packet();
    std::string header;
    std::int64_t offset = 0;  // time of the first picture
    std::int64_t end = 0;     // end of the last fragment
    bool begun = false;
};

Mp4Fragments::Mp4Fragments(const VideoFormat& format) : state_(std::make_unique<State>(format)) {}
Mp4Fragments::~Mp4Fragments() = default;

const std::string& Mp4Fragments::header() const { return state_->header; }

Mp4Fragment Mp4Fragments::pack(const AccessUnit& unit) {
    auto& state = *state_;
    if (!std::exchange(state.begun, true)) state.offset = unit.pts;
    Mp4Fragment fragment{.start = state.end};
    fragment.duration = std::max<std::int64_t>(1, unit.pts - state.offset + unit.duration - state.end);
    auto& packet = *state.packet;
    // The muxer copies the data: the packet has no reference to it.
    packet.data = reinterpret_cast<std::uint8_t*>(const_cast<char*>(unit.bytes.data()));
    packet.size = static_cast<int>(unit.bytes.size());
    packet.pts = packet.dts = fragment.start;
    packet.duration = fragment.duration;
    packet.flags = unit.key ? AV_PKT_FLAG_KEY : 0;
    packet.stream_index = 0;
    int error = av_write_frame(state.format.get(), &packet);
    if (error >= 0) error = av_write_frame(state.format.get(), nullptr);
    av_packet_unref(&packet);
    if (error < 0) fail(ErrorCode::io, "cannot write MP4: {}", ffmpeg_error(error));
    state.end += fragment.duration;
    fragment.bytes = state.io.take();
    return fragment;
}

}  // namespace framewire

#else

namespace framewire {

struct Mp4Fragments::State {};

Mp4Fragments::Mp4Fragments(const VideoFormat&) {
    fail(ErrorCode::config, "this build cannot write MP4: it was built without FFmpeg");
}
Mp4Fragments::~Mp4Fragments() = default;

const std::string& Mp4Fragments::header() const { fail(ErrorCode::internal, "there is no muxer"); }
Mp4Fragment Mp4Fragments::pack(const AccessUnit&) { fail(ErrorCode::internal, "there is no muxer"); }

}  // namespace framewire

#endif
