#include "framewire/media/ffmpeg/companions.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/media/ffmpeg/input.hpp"
#include "framewire/media/media.hpp"

// Copies audio, subtitles, chapters and metadata to the output while its pictures are re-encoded. The file is opened a
// second time, and its packets are interleaved with the pictures by time: before each video packet the sink asks for
// everything that precedes it. If the file consists of spliced segments, the video packets of the second reading say
// where each segment lies, and other packets wait until their segment is known.

extern "C" {
#include <libavutil/timecode.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string_view>

namespace framewire {
namespace {

using namespace std::chrono_literals;

// Maximum time to wait for one packet.
constexpr std::chrono::milliseconds companion_patience = 60s;
constexpr std::size_t most_waiting = 4096;  // packets that wait for the pictures at a splice

// Audio codecs that MPEG-TS and RTSP support, although FFmpeg's codec tables do not list them.
constexpr std::array streamed_sound{AV_CODEC_ID_AAC, AV_CODEC_ID_MP2,  AV_CODEC_ID_MP3,
                                    AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_OPUS};

// Deleter for an in-memory AVIOContext.
struct FreeDynamicBuffer {
    void operator()(AVIOContext* io) const noexcept {
        std::uint8_t* bytes = nullptr;
        avio_close_dyn_buf(io, &bytes);
        av_free(bytes);
    }
};

// Returns true if the muxer accepts a header for this stream. FFmpeg's tables also list codecs that its muxers reject,
// as experimental or in this form, so a header with only this stream is written to memory. HLS segments are tested as
// transport streams.
bool begins_with(const AVOutputFormat& format, const AVCodecParameters& parameters) {
    const bool hls = std::string_view(format.name) == "hls";
    if ((format.flags & AVFMT_NOFILE) && !hls) return true;
    AVFormatContext* created = nullptr;
    if (avformat_alloc_output_context2(&created, hls ? nullptr : &format, hls ? "mpegts" : nullptr, nullptr) < 0)
        return false;
    const OutputPointer trial(created);
    AVIOContext* io = nullptr;
    if (avio_open_dyn_buf(&io) < 0) return false;
    const std::unique_ptr<AVIOContext, FreeDynamicBuffer> memory(io);
    trial->pb = io;
    auto* stream = avformat_new_stream(trial.get(), nullptr);
    if (!stream || avcodec_parameters_copy(stream->codecpar, &parameters) < 0) return false;
    stream->codecpar->codec_tag = 0;
    Dictionary options;
    const auto name = std::string_view(format.name);
    if (name == "mp4" || name == "mov") options.set("movflags", "frag_custom+delay_moov");
    // Write no trailer: right after the header, the trailer of FFmpeg's MP4 muxer leaks a buffer. Freeing the context
    // cleans up.
    const bool begun = avformat_write_header(trial.get(), options.address()) >= 0;
    take_complaint();
    return begun;
}

// Returns true if a container can hold a stream.
bool container_takes(const AVOutputFormat& format, const AVCodecParameters& parameters) {
    const int known = avformat_query_codec(&format, parameters.codec_id, FF_COMPLIANCE_NORMAL);
    const bool listed = known >= 0 ? known == 1
                                   : format.audio_codec != AV_CODEC_ID_NONE &&
                                         std::ranges::find(streamed_sound, parameters.codec_id) != streamed_sound.end();
    return listed && (parameters.codec_type != AVMEDIA_TYPE_AUDIO || begins_with(format, parameters));
}

// Returns true for AAC with a header in each frame (ADTS), as in transport streams and .aac files. Most containers need
// a single header instead.
bool is_adts(const AVCodecParameters& parameters) {
    return parameters.codec_id == AV_CODEC_ID_AAC && parameters.extradata_size == 0;
}

// Returns true for containers that hold AAC with ADTS headers.
bool takes_adts(const AVOutputFormat& format) {
    const std::string_view name = format.name;
    return name == "mpegts" || name == "hls";
}

// Returns the number of samples that a decoder discards at the start. FFmpeg's Matroska demuxer leaves this value for
// Opus in the codec header, at bytes 10 and 11 (RFC 7845, section 5.1), and its muxer then loses it.
int padding_of(const AVCodecParameters& parameters) {
    constexpr int at = 10, shortest_header = 19;
    if (parameters.initial_padding > 0 || parameters.codec_id != AV_CODEC_ID_OPUS) return parameters.initial_padding;
    if (parameters.extradata_size < shortest_header) return 0;
    return parameters.extradata[at] | parameters.extradata[at + 1] << 8;
}

constexpr std::string_view time_code_key = "timecode";

// Returns true for metadata that describes the file itself rather than its content.
bool is_about_the_file(std::string_view key) {
    static constexpr std::array<std::string_view, 6> keys{"major_brand", "minor_version", "compatible_brands",
                                                          "encoder",     "software",      "duration"};
    // Tags that mkvmerge writes.
    static constexpr std::array<std::string_view, 3> statistics{"bps", "number_of_", "_statistics_"};
    const auto lower = lower_case(key);
    return std::ranges::find(keys, lower) != keys.end() || lower == time_code_key || lower == "rotate" ||
           std::ranges::any_of(statistics, [&](auto beginning) { return lower.starts_with(beginning); });
}

// Copies only the metadata that describes the content.
void copy_words_to(AVDictionary** to, const AVDictionary* from) {
    const AVDictionaryEntry* entry = nullptr;
    while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)))
        if (!is_about_the_file(entry->key)) av_dict_set(to, entry->key, entry->value, 0);
}

}  // namespace

// Opens the file and discards all streams; add() enables those that are copied.
Companions::Companions(const MediumFile& medium, Rational rate, const SinkOptions& options)
    : medium_(medium),
      audio_(options.audio),
      rate_(rate),
      start_seconds_(options.begin_seconds.value_or(options.start_seconds)),
      name_(medium.path) {
    const FfmpegAddress address{name_, "file:" + name_, "", FfmpegAddress::Kind::file, contents_of(name_)};
    interrupt_.allow(companion_patience);
    demuxer_.emplace(address, source_options_, interrupt_, companion_patience);
    auto& format = demuxer_->format();
    for (unsigned index = 0; index < format.nb_streams; ++index) {
        format.streams[index]->discard = AVDISCARD_ALL;
        streams_.push_back({format.streams[index]});
    }
}

void Companions::join(AVFormatContext& output, const std::string& name) {
    auto& input = demuxer_->format();
    copy_words_to(&output.metadata, input.metadata);
    over_ = true;
    video_ = av_find_best_stream(&input, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    if (video_ >= 0) copy_words_to(&output.streams[0]->metadata, input.streams[video_]->metadata);
    for (auto& stream : streams_) {
        const auto& parameters = *stream.in->codecpar;
        const bool sound = parameters.codec_type == AVMEDIA_TYPE_AUDIO;
        if (!sound && parameters.codec_type != AVMEDIA_TYPE_SUBTITLE) continue;
        if (sound && !audio_) continue;
        add(stream, output, name);
    }
    // Video and audio timestamps restart together, so the video packets are needed to place the segments.
    if (!over_ && video_ >= 0 && StreamSplices::may_occur(input)) {
        splices_.emplace(*input.streams[video_], true);
        input.streams[video_]->discard = AVDISCARD_DEFAULT;
    }
    copy_time_code(output, name);
    say_what_stays(name);
}

// Adds one audio or subtitle stream, or warns that it is omitted.
void Companions::add(Stream& stream, AVFormatContext& output, const std::string& name) {
    const auto& parameters = *stream.in->codecpar;
    const bool sound = parameters.codec_type == AVMEDIA_TYPE_AUDIO;
    const auto leave_out = [&] {
        log_warning("{}: this format cannot store the {} ({}) of {}, which {} left out", name,
                    sound ? "audio" : "subtitles", avcodec_get_name(parameters.codec_id), name_, sound ? "is" : "are");
    };
    const auto* described = &parameters;
    auto filter = is_adts(parameters) && !takes_adts(*output.oformat) ? adts_filter(stream) : nullptr;
    if (filter) described = filter->par_in;
    if (!container_takes(*output.oformat, *described)) return leave_out();
    auto* added = avformat_new_stream(&output, nullptr);
    if (!added || avcodec_parameters_copy(added->codecpar, described) < 0)
        fail(ErrorCode::config, "not enough memory to write {}", name);
    added->codecpar->initial_padding = padding_of(parameters);
    // The container may use another tag for this codec.
    if (output.oformat->codec_tag &&
        av_codec_get_id(output.oformat->codec_tag, parameters.codec_tag) != parameters.codec_id)
        added->codecpar->codec_tag = 0;
    added->time_base = stream.in->time_base;
    added->disposition = stream.in->disposition;
    copy_words_to(&added->metadata, stream.in->metadata);
    stream.out = added->index;
    stream.filter = std::move(filter);
    stream.splices = StreamSplices(*stream.in, true);
    const_cast<AVStream*>(stream.in)->discard = AVDISCARD_DEFAULT;
    over_ = false;
}

// Creates the bitstream filter that removes ADTS headers. Its par_in describes the stream for the output's header, so
// the first frame is read in advance through a separate demuxer. Returns null on failure.
Companions::BsfPointer Companions::adts_filter(const Stream& stream) const {
    const auto* kind = av_bsf_get_by_name("aac_adtstoasc");
    const auto make = [&](const AVCodecParameters& parameters) {
        AVBSFContext* made = nullptr;
        if (!kind || av_bsf_alloc(kind, &made) < 0) return BsfPointer();
        BsfPointer filter(made);
        filter->time_base_in = stream.in->time_base;
        if (avcodec_parameters_copy(filter->par_in, &parameters) < 0 || av_bsf_init(filter.get()) < 0)
            return BsfPointer();
        return filter;
    };
    auto first = make(*stream.in->codecpar);
    if (!first) return nullptr;
    const FfmpegAddress address{name_, "file:" + name_, "", FfmpegAddress::Kind::file, contents_of(name_)};
    Interrupt interrupt{std::stop_token()};
    interrupt.allow(companion_patience);
    const FfmpegDemuxer demuxer(address, source_options_, interrupt, companion_patience);
    const auto packet = make_packet();
    while (av_read_frame(&demuxer.format(), packet.get()) >= 0) {
        const bool of_it = packet->stream_index == stream.in->index && packet->size > 0;
        if (of_it && av_bsf_send_packet(first.get(), packet.get()) >= 0 &&
            av_bsf_receive_packet(first.get(), packet.get()) >= 0) {
            std::size_t bytes = 0;
            const auto* header = av_packet_get_side_data(packet.get(), AV_PKT_DATA_NEW_EXTRADATA, &bytes);
            if (!header) return nullptr;
            auto& parameters = *first->par_in;
            parameters.extradata = static_cast<std::uint8_t*>(av_mallocz(bytes + AV_INPUT_BUFFER_PADDING_SIZE));
            if (!parameters.extradata) fail(ErrorCode::config, "not enough memory for the audio header");
            std::copy_n(header, bytes, parameters.extradata);
            parameters.extradata_size = static_cast<int>(bytes);
            return make(parameters);
        }
        av_packet_unref(packet.get());
    }
    take_complaint();
    return nullptr;
}

bool Companions::described() const {
    return over_ || std::ranges::all_of(streams_, [](const Stream& stream) {
               const auto codec = stream.in->codecpar->codec_id;
               const bool says_later = codec == AV_CODEC_ID_AC3 || codec == AV_CODEC_ID_EAC3;
               return stream.out < 0 || !says_later || stream.last_dts != INT64_MIN;
           });
}

// Sets the time code of the output's first frame, converted to the output's frame rate.
void Companions::copy_time_code(AVFormatContext& output, const std::string& name) const {
    auto& input = demuxer_->format();
    const auto* entry = av_dict_get(input.metadata, time_code_key.data(), nullptr, 0);
    for (const auto& stream : streams_)
        if (!entry) entry = av_dict_get(stream.in->metadata, time_code_key.data(), nullptr, 0);
    if (!entry || video_ < 0) return;
    const std::string_view muxer = output.oformat->name;
    const auto rate = av_guess_frame_rate(&input, input.streams[video_], nullptr);
    AVTimecode code{};
    const bool known =
        rate.num > 0 && rate.den > 0 && av_timecode_init_from_string(&code, rate, entry->value, nullptr) >= 0;
    take_complaint();
    if (!known || (muxer != "mp4" && muxer != "mov" && muxer != "matroska")) {
        log_warning("{}: this format cannot store the time code ({}) of {}, which is left out", name, entry->value,
                    name_);
        return;
    }
    const double begin = std::ceil(start_seconds_ * av_q2d(rate) - 1e-3);
    char text[AV_TIMECODE_STR_SIZE] = {};
    av_timecode_make_string(&code, text, static_cast<int>(std::clamp(begin, 0.0, 1e9)));
    std::string timed = text;
    // The time code ends with a frame number within the second, which depends on the rate.
    if (const double factor = rate_.value() / av_q2d(rate); std::abs(factor - 1) > 1e-3) {
        const auto at = timed.find_last_of(":;.");
        const auto frame = number_in<int>(std::string_view(timed).substr(at + 1)).value_or(0);
        timed = fmt::format("{}:{:02}", timed.substr(0, at), static_cast<int>(frame * factor));
    }
    av_dict_set(&output.streams[0]->metadata, time_code_key.data(), timed.c_str(), 0);
}

// Logs the kinds of streams that are not copied. Audio and subtitles are reported one by one in add().
void Companions::say_what_stays(const std::string& name) const {
    std::vector<std::string> kinds;
    for (const auto& stream : streams_) {
        const auto& parameters = *stream.in->codecpar;
        const bool time_code = parameters.codec_tag == MKTAG('t', 'm', 'c', 'd');
        const bool is_seen_to = parameters.codec_type == AVMEDIA_TYPE_AUDIO ||
                                parameters.codec_type == AVMEDIA_TYPE_SUBTITLE || stream.in->index == video_;
        if (stream.out >= 0 || is_seen_to || time_code) continue;
        std::string kind = stream.in->disposition & AV_DISPOSITION_ATTACHED_PIC ? "a cover picture"
                           : parameters.codec_type == AVMEDIA_TYPE_VIDEO        ? "further video streams"
                           : parameters.codec_type == AVMEDIA_TYPE_ATTACHMENT   ? "an attachment"
                                                                                : "data";
        if (parameters.codec_type == AVMEDIA_TYPE_DATA && parameters.codec_tag) {
            char tag[AV_FOURCC_MAX_STRING_SIZE] = {};
            kind += fmt::format(" ({})", av_fourcc_make_string(tag, parameters.codec_tag));
        }
        if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    }
    if (!kinds.empty()) log_warning("{}: these streams of {} are left out: {}", name, name_, fmt::join(kinds, ", "));
}

// Copies chapters, shifted to the output's time and cut at `seconds`.
void Companions::add_chapters(AVFormatContext& output, double seconds) const {
    const auto& format = demuxer_->format();
    if (format.nb_chapters == 0) return;
    output.chapters = static_cast<AVChapter**>(av_calloc(format.nb_chapters, sizeof(AVChapter*)));
    if (!output.chapters) fail(ErrorCode::config, "not enough memory for chapters");
    for (unsigned index = 0; index < format.nb_chapters; ++index) {
        const auto& chapter = *format.chapters[index];
        const double tick_seconds = av_q2d(chapter.time_base);
        const auto shift = std::llround(shift_seconds_ / tick_seconds);
        const auto start = std::max<std::int64_t>(0, av_sat_sub64(chapter.start, shift));
        const std::int64_t last = seconds / tick_seconds < 0x1p62 ? std::llround(seconds / tick_seconds) : INT64_MAX;
        const auto end =
            chapter.end == AV_NOPTS_VALUE ? last : std::min<std::int64_t>(last, av_sat_sub64(chapter.end, shift));
        if (start >= end) continue;
        auto* copy = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
        if (!copy) fail(ErrorCode::config, "not enough memory for a chapter");
        output.chapters[output.nb_chapters++] = copy;
        copy->id = chapter.id;
        copy->time_base = chapter.time_base;
        copy->start = start;
        copy->end = end == INT64_MAX ? AV_NOPTS_VALUE : end;
        av_dict_copy(&copy->metadata, chapter.metadata, 0);
    }
}

void Companions::begin(double seconds) {
    shift_seconds_ = medium_.begin_seconds + seconds;
    // If the time range starts in the middle of the file, seek instead of reading everything before it.
    constexpr double worth_seeking_seconds = 5;
    if (over_ || seconds < worth_seeking_seconds) return;
    const auto at = std::llround((shift_seconds_ - worth_seeking_seconds / 2) * AV_TIME_BASE);
    interrupt_.allow(companion_patience);
    avformat_seek_file(&demuxer_->format(), -1, std::numeric_limits<std::int64_t>::min(), at, at, 0);
    take_complaint();  // if seeking fails, the file is read from its start
}

// Returns the time of a packet in the output.
double Companions::seconds_of(const AVPacket& packet) const {
    const auto time = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    const auto& in = *streams_[static_cast<std::size_t>(packet.stream_index)].in;
    return static_cast<double>(time) * av_q2d(in.time_base) - shift_seconds_;
}

// Reads the next packet to copy into packet_. Returns false at the end of the file and after any error: a damaged audio
// stream must not stop the pictures.
bool Companions::read() {
    while (!pending_ && !(over_ && waiting_.empty())) {
        av_packet_unref(packet_.get());
        if (!waiting_.empty() && is_placed(*waiting_.front())) {
            av_packet_move_ref(packet_.get(), waiting_.front().get());
            waiting_.pop_front();
        } else if (!read_packet() || wait_for_pictures()) {
            continue;
        }
        auto& stream = streams_[static_cast<std::size_t>(packet_->stream_index)];
        if (splices_) place(stream, *packet_);
        const auto& parameters = *stream.in->codecpar;
        // Samples that a decoder discards before the first audible one must be copied, too.
        const double padding =
            parameters.sample_rate > 0 ? static_cast<double>(padding_of(parameters)) / parameters.sample_rate : 0;
        pending_ = seconds_of(*packet_) + padding >= -1e-6;
    }
    return pending_;
}

// Reads one packet; returns false if it is not copied.
bool Companions::read_packet() {
    if (over_) return false;
    interrupt_.allow(companion_patience);
    if (av_read_frame(&demuxer_->format(), packet_.get()) < 0) {
        over_ = true;
        return false;
    }
    if (splices_ && packet_->stream_index == video_) {
        splices_->take(*packet_);
        return false;
    }
    // Some demuxers discover streams while reading; these are not in the list.
    const auto index = static_cast<std::size_t>(packet_->stream_index);
    return index < streams_.size() && streams_[index].out >= 0 &&
           (packet_->pts != AV_NOPTS_VALUE || packet_->dts != AV_NOPTS_VALUE);
}

// Queues packets that precede the pictures at a splice: only the video packets say where the segment lies. Once a
// packet waits, all later ones wait too. Returns true if packet_ was queued.
bool Companions::wait_for_pictures() {
    if (!splices_) return false;
    auto& stream = streams_[static_cast<std::size_t>(packet_->stream_index)];
    if (stream.splices.take(*packet_)) ++stream.segment;
    packet_->opaque = reinterpret_cast<void*>(stream.segment);
    if (waiting_.empty() && is_placed(*packet_)) return false;
    auto held = make_packet();
    av_packet_move_ref(held.get(), packet_.get());
    waiting_.push_back(std::move(held));
    return true;
}

// Returns true once the pictures have reached the packet's segment, or never will.
bool Companions::is_placed(const AVPacket& packet) const {
    return over_ || waiting_.size() > most_waiting ||
           reinterpret_cast<std::size_t>(packet.opaque) < splices_->segments();
}

// Shifts a packet to its segment. If the pictures never reached the segment, the stream's own clock decides.
void Companions::place(Stream& stream, AVPacket& packet) const {
    const auto segment = reinterpret_cast<std::size_t>(packet.opaque);
    packet.opaque = nullptr;
    if (segment >= splices_->segments()) return StreamSplices::move(packet, stream.splices.offset(segment));
    StreamSplices::move(packet, av_rescale_q(splices_->offset(segment), splices_->time_base(), stream.in->time_base));
}

// Passes packet_ to `put` in the output's time base, with increasing decoding times.
void Companions::give(AVFormatContext& output, const Put& put) {
    pending_ = false;
    auto& packet = *packet_;
    auto& stream = streams_[static_cast<std::size_t>(packet.stream_index)];
    const auto& out = *output.streams[stream.out];
    // Convert the file's time to the output's, in the stream's own ticks to avoid rounding errors.
    const auto shift = std::llround(shift_seconds_ / av_q2d(stream.in->time_base));
    if (packet.pts != AV_NOPTS_VALUE) packet.pts = av_sat_sub64(packet.pts, shift);
    if (packet.dts != AV_NOPTS_VALUE) packet.dts = av_sat_sub64(packet.dts, shift);
    av_packet_rescale_ts(&packet, stream.in->time_base, out.time_base);
    if (packet.dts == AV_NOPTS_VALUE) packet.dts = packet.pts;
    if (packet.pts == AV_NOPTS_VALUE || packet.pts < packet.dts) packet.pts = packet.dts;
    // Packets may be shorter than a tick of the time base, for example TrueHD in Matroska.
    const bool may_be_equal = output.oformat->flags & AVFMT_TS_NONSTRICT;
    const bool in_order = packet.dts > stream.last_dts || (may_be_equal && packet.dts == stream.last_dts);
    if (!in_order) return;  // invalid times
    stream.last_dts = packet.dts;
    packet.stream_index = stream.out;
    packet.pos = -1;
    if (stream.filter && (av_bsf_send_packet(stream.filter.get(), &packet) < 0 ||
                          av_bsf_receive_packet(stream.filter.get(), &packet) < 0))
        return static_cast<void>(take_complaint());  // corrupt audio
    if (put(packet)) return;
    log_warning("{}: cannot copy one of its streams: {}", name_, take_complaint());
    stream.out = -1;
}

void Companions::give_until(double seconds, AVFormatContext& output, const Put& put) {
    while (read() && seconds_of(*packet_) < seconds - 1e-6) give(output, put);
}

void Companions::give_all(AVFormatContext& output, const Put& put) {
    while (read()) give(output, put);
}

}  // namespace framewire
