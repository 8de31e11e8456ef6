#include "framewire/media/ffmpeg/output/companions.hpp"

#include "framewire/core/log.hpp"
#include "framewire/media/ffmpeg/input/limits.hpp"
#include "framewire/media/names.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string_view>

namespace framewire {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds companion_patience = 60s;

// What MPEG-TS and RTSP take is in no table of FFmpeg's.
constexpr std::array streamed_sound{AV_CODEC_ID_AAC, AV_CODEC_ID_MP2,  AV_CODEC_ID_MP3,
                                    AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_OPUS};

bool container_takes(const AVOutputFormat& format, const AVCodecParameters& parameters) {
    const int known = avformat_query_codec(&format, parameters.codec_id, FF_COMPLIANCE_NORMAL);
    if (known >= 0) return known == 1;
    return format.audio_codec != AV_CODEC_ID_NONE &&
           std::ranges::find(streamed_sound, parameters.codec_id) != streamed_sound.end();
}

// Samples that a decoder throws away at the beginning. FFmpeg's demuxer of Matroska leaves those of Opus to its header,
// whose bytes 10 and 11 tell them (RFC 7845, section 5.1), and its muxer then forgets their time.
int padding_of(const AVCodecParameters& parameters) {
    constexpr int at = 10, shortest_header = 19;
    if (parameters.initial_padding > 0 || parameters.codec_id != AV_CODEC_ID_OPUS) return parameters.initial_padding;
    if (parameters.extradata_size < shortest_header) return 0;
    return parameters.extradata[at] | parameters.extradata[at + 1] << 8;
}

// Words about the file that they stood in, not about what it shows.
bool is_about_the_file(std::string_view key) {
    static constexpr std::array<std::string_view, 6> keys{"major_brand", "minor_version", "compatible_brands",
                                                          "encoder",     "software",      "duration"};
    return std::ranges::find(keys, lower_case(key)) != keys.end();
}

void copy_words_to(AVDictionary** to, const AVDictionary* from) {
    const AVDictionaryEntry* entry = nullptr;
    while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)))
        if (!is_about_the_file(entry->key)) av_dict_set(to, entry->key, entry->value, 0);
}

}  // namespace

Companions::Companions(const MediumFile& medium, const SinkOptions& options)
    : medium_(medium), audio_(options.audio), name_(medium.path) {
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
    copy_words_to(&output.metadata, demuxer_->format().metadata);
    over_ = true;
    for (auto& stream : streams_) {
        const auto& parameters = *stream.in->codecpar;
        const bool sound = parameters.codec_type == AVMEDIA_TYPE_AUDIO;
        if (!sound && parameters.codec_type != AVMEDIA_TYPE_SUBTITLE) continue;
        if (sound && !audio_) continue;
        if (!container_takes(*output.oformat, parameters)) {
            log_warning("{}: {} ({}) of {} cannot go into it and {} left out", name, sound ? "sound" : "subtitles",
                        avcodec_get_name(parameters.codec_id), name_, sound ? "is" : "are");
            continue;
        }
        auto* added = avformat_new_stream(&output, nullptr);
        if (!added || avcodec_parameters_copy(added->codecpar, &parameters) < 0)
            fail(ErrorCode::config, "no memory to write {}", name);
        added->codecpar->initial_padding = padding_of(parameters);
        // The same codec may go by another tag there.
        if (output.oformat->codec_tag &&
            av_codec_get_id(output.oformat->codec_tag, parameters.codec_tag) != parameters.codec_id)
            added->codecpar->codec_tag = 0;
        added->time_base = stream.in->time_base;
        added->disposition = stream.in->disposition;
        copy_words_to(&added->metadata, stream.in->metadata);
        stream.out = added->index;
        const_cast<AVStream*>(stream.in)->discard = AVDISCARD_DEFAULT;
        over_ = false;
    }
}

void Companions::add_chapters(AVFormatContext& output, double seconds) const {
    const auto& format = demuxer_->format();
    if (format.nb_chapters == 0) return;
    output.chapters = static_cast<AVChapter**>(av_calloc(format.nb_chapters, sizeof(AVChapter*)));
    if (!output.chapters) fail(ErrorCode::config, "no memory for chapters");
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
        if (!copy) fail(ErrorCode::config, "no memory for a chapter");
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
    // A piece from the middle: what is before it need not be read.
    constexpr double worth_seeking_seconds = 5;
    if (over_ || seconds < worth_seeking_seconds) return;
    const auto at = std::llround((shift_seconds_ - worth_seeking_seconds / 2) * AV_TIME_BASE);
    interrupt_.allow(companion_patience);
    avformat_seek_file(&demuxer_->format(), -1, std::numeric_limits<std::int64_t>::min(), at, at, 0);
    take_complaint();  // where it cannot, it is read from its beginning
}

double Companions::seconds_of(const AVPacket& packet) const {
    const auto time = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    const auto& in = *streams_[static_cast<std::size_t>(packet.stream_index)].in;
    return static_cast<double>(time) * av_q2d(in.time_base) - shift_seconds_;
}

// The next packet that goes along; false at the end, whatever ends it: pictures do not fail for their sound.
bool Companions::read() {
    while (!pending_ && !over_) {
        av_packet_unref(packet_.get());
        interrupt_.allow(companion_patience);
        if (av_read_frame(&demuxer_->format(), packet_.get()) < 0) {
            over_ = true;
            break;
        }
        // Some demuxers find streams on the way.
        const auto index = static_cast<std::size_t>(packet_->stream_index);
        if (index >= streams_.size() || streams_[index].out < 0) continue;
        if (packet_->pts == AV_NOPTS_VALUE && packet_->dts == AV_NOPTS_VALUE) continue;
        const auto& parameters = *streams_[index].in->codecpar;
        // What a decoder throws away before the first sample is needed, too.
        const double padding =
            parameters.sample_rate > 0 ? static_cast<double>(padding_of(parameters)) / parameters.sample_rate : 0;
        pending_ = seconds_of(*packet_) + padding >= -1e-6;
    }
    return pending_;
}

void Companions::give(AVFormatContext& output, const Put& put) {
    pending_ = false;
    auto& packet = *packet_;
    auto& stream = streams_[static_cast<std::size_t>(packet.stream_index)];
    const auto& out = *output.streams[stream.out];
    const auto shift = std::llround(shift_seconds_ / av_q2d(stream.in->time_base));
    if (packet.pts != AV_NOPTS_VALUE) packet.pts = av_sat_sub64(packet.pts, shift);
    if (packet.dts != AV_NOPTS_VALUE) packet.dts = av_sat_sub64(packet.dts, shift);
    av_packet_rescale_ts(&packet, stream.in->time_base, out.time_base);
    if (packet.dts == AV_NOPTS_VALUE) packet.dts = packet.pts;
    if (packet.pts == AV_NOPTS_VALUE || packet.pts < packet.dts) packet.pts = packet.dts;
    const bool in_order = packet.dts > stream.last_dts;
    if (!in_order) return;  // broken times
    stream.last_dts = packet.dts;
    packet.stream_index = stream.out;
    packet.pos = -1;
    if (put(packet)) return;
    log_warning("{}: a stream of it could not be copied further: {}", name_, take_complaint());
    stream.out = -1;
}

void Companions::give_until(double seconds, AVFormatContext& output, const Put& put) {
    while (read() && seconds_of(*packet_) < seconds - 1e-6) give(output, put);
}

void Companions::give_all(AVFormatContext& output, const Put& put) {
    while (read()) give(output, put);
}

}  // namespace framewire
