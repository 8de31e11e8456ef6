#include "framewire/media/ffmpeg/cutting.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/ffmpeg/companions.hpp"
#include "framewire/media/ffmpeg/input.hpp"
#include "framewire/media/ffmpeg/output.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

// Frame times from packets. Containers store a presentation time per packet, so a pass over all packets gives the
// times of all frames at the speed of the disk. Anything that makes this ambiguous (missing or backward times, fields,
// corrupt packets) is reported as unknown, and callers decode instead.

namespace framewire {
namespace {

using namespace std::chrono_literals;

// Maximum time to wait for one packet of a file.
constexpr std::chrono::milliseconds file_patience_of_times = 60s;

// Reads all packets of a file's best video stream once.
class PacketTimes {
public:
    PacketTimes(const MediumFile& medium, const SourceOptions& options)
        : medium_(medium), options_(options), interrupt_(options.stop) {
        const auto& path = medium.path;
        const FfmpegAddress address{path, "file:" + path, "", FfmpegAddress::Kind::file, contents_of(path)};
        interrupt_.allow(file_patience_of_times);
        demuxer_.emplace(address, options_, interrupt_, file_patience_of_times);
        auto& format = demuxer_->format();
        const int index = av_find_best_stream(&format, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
        if (index < 0) fail(ErrorCode::no_input, "{} has no video stream", path);
        stream_ = format.streams[index];
        for (unsigned other = 0; other < format.nb_streams; ++other)
            if (static_cast<int>(other) != index) format.streams[other]->discard = AVDISCARD_ALL;
        first_ = std::llround(medium.begin_seconds / av_q2d(stream_->time_base));
    }

    // Sorts the presentation times and looks up the index of each key frame among them.
    FrameTimes read() {
        while (times_.unknown.empty()) {
            interrupt_.allow(file_patience_of_times);
            const int result = av_read_frame(&demuxer_->format(), packet_.get());
            if (result == AVERROR_EOF) break;
            if (interrupt_.stopped()) return {.unknown = "reading was stopped"};
            if (result < 0) return {.unknown = "it cannot be read completely: " + ffmpeg_error(result)};
            if (packet_->stream_index == stream_->index) take(*packet_);
            av_packet_unref(packet_.get());
        }
        if (!times_.unknown.empty()) return {.unknown = times_.unknown};
        std::ranges::sort(frames_);
        for (const auto entry : entries_)
            times_.entries.push_back(
                static_cast<std::size_t>(std::ranges::lower_bound(frames_, entry) - frames_.begin()));
        times_.seconds.reserve(frames_.size());
        for (const auto frame : frames_)
            times_.seconds.push_back(static_cast<double>(frame - first_) * av_q2d(stream_->time_base));
        times_.medium = medium_;
        return std::move(times_);
    }

private:
    // Checks one packet and stores its time. `first_` is the presentation time of the first frame, before which frames
    // are not shown.
    void take(const AVPacket& packet) {
        if (packet.flags & AV_PKT_FLAG_DISCARD) return;  // excluded by an edit list
        if (packet.flags & AV_PKT_FLAG_CORRUPT) times_.unknown = "one of its packets is damaged";
        if (packet.pts == AV_NOPTS_VALUE) times_.unknown = "its packets have no timestamps";
        if (const auto* parser = av_stream_get_parser(stream_);
            parser && (parser->picture_structure == AV_PICTURE_STRUCTURE_TOP_FIELD ||
                       parser->picture_structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD))
            times_.unknown = "its packets contain single fields";
        if (std::ssize(frames_) == most_frames_of_times) times_.unknown = "it has too many frames";
        if (!times_.unknown.empty() || packet.pts < first_) return;
        // Frames that follow a key frame in decoding order may be displayed before it (open GOP), but not before the
        // previous key frame.
        if (entries_.size() > 1 && packet.pts < entries_[entries_.size() - 2])
            times_.unknown = "its timestamps go backwards";
        if ((packet.flags & AV_PKT_FLAG_KEY) && packet.pts > last_) entries_.push_back(packet.pts);
        last_ = std::max(last_, packet.pts);
        frames_.push_back(packet.pts);
    }

    MediumFile medium_;
    SourceOptions options_;
    Interrupt interrupt_;
    std::optional<FfmpegDemuxer> demuxer_;
    AVStream* stream_ = nullptr;
    PacketPointer packet_ = make_packet();
    std::int64_t first_ = 0, last_ = INT64_MIN;
    std::vector<std::int64_t> frames_, entries_;  // times in ticks of the stream's time base
    FrameTimes times_;
};

}  // namespace

FrameTimes packet_times(const MediumFile& medium, const SourceOptions& options) {
    return PacketTimes(medium, options).read();
}

}  // namespace framewire

// Joins video files packet by packet. Parts are separate encodings of consecutive time ranges with equal encoder
// settings, so their packets can be appended after shifting the timestamps; nothing is decoded.

namespace framewire {
namespace {

using namespace std::chrono_literals;

// Maximum time to wait for one packet of a part.
constexpr std::chrono::milliseconds part_patience = 60s;
// Maximum number of bytes that the MP4 muxer buffers before a fragment is written.
constexpr std::int64_t most_held_back_bytes = std::int64_t{16} << 20;

// Packet reader for the video stream of one part.
class PartReader {
public:
    PartReader(const std::string& path, const std::stop_token& stop) : path_(path), interrupt_(stop) {
        interrupt_.allow(part_patience);
        demuxer_.emplace(FfmpegAddress{path, "file:" + path, "", FfmpegAddress::Kind::file}, options_, interrupt_,
                         part_patience);
        const int index = av_find_best_stream(&demuxer_->format(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
        if (index < 0) fail(ErrorCode::no_input, "{} has no video stream", path);
        stream_ = demuxer_->format().streams[index];
    }

    const AVStream& stream() const { return *stream_; }

    // Reads the next video packet; returns false at the end.
    bool read(AVPacket& packet) {
        for (;;) {
            av_packet_unref(&packet);
            interrupt_.allow(part_patience);
            const int result = av_read_frame(&demuxer_->format(), &packet);
            if (interrupt_.stopped()) fail(ErrorCode::io, "stopped while joining {}", path_);
            if (result == AVERROR_EOF) return false;
            if (result < 0) fail(ErrorCode::no_input, "cannot read {}: {}", path_, ffmpeg_error(result));
            if (packet.stream_index == stream_->index) return true;
        }
    }

private:
    std::string path_;
    SourceOptions options_;
    Interrupt interrupt_;
    std::optional<FfmpegDemuxer> demuxer_;
    const AVStream* stream_ = nullptr;
};

// Returns true if packets of both streams can follow each other under one codec header.
bool same_coding(const AVCodecParameters& one, const AVCodecParameters& other) {
    return one.codec_id == other.codec_id && one.width == other.width && one.height == other.height &&
           one.format == other.format && one.extradata_size == other.extradata_size &&
           (one.extradata_size == 0 ||
            std::memcmp(one.extradata, other.extradata, static_cast<std::size_t>(one.extradata_size)) == 0);
}

// The output file, its muxer and the streams copied from the medium.
class VideoJoin {
public:
    VideoJoin(const std::vector<VideoPart>& parts, const std::string& output, const OutputFileOptions& options,
              const std::optional<MediumFile>& medium, bool audio)
        : parts_(parts), name_(output), stop_(options.stop), first_(parts.front().path, stop_) {
        AVFormatContext* format = nullptr;
        if (avformat_alloc_output_context2(&format, nullptr, nullptr, output.c_str()) < 0)
            fail(ErrorCode::config, "{}: this FFmpeg cannot write this format", output);
        format_.reset(format);
        format->flags |= AVFMT_FLAG_BITEXACT;  // no version strings, as in the files of a sink
        muxer_ = format->oformat->name;
        const auto& in = first_.stream();
        stream_ = avformat_new_stream(format, nullptr);
        if (!stream_ || avcodec_parameters_copy(stream_->codecpar, in.codecpar) < 0)
            fail(ErrorCode::config, "not enough memory to write {}", output);
        stream_->time_base = in.time_base;
        stream_->avg_frame_rate = in.avg_frame_rate;
        stream_->sample_aspect_ratio = in.sample_aspect_ratio;
        if (medium) bring_along(*medium, audio);
        file_.emplace(output, options, failure_);
        format->pb = file_->context();
        format->flags |= AVFMT_FLAG_CUSTOM_IO;
        Dictionary dictionary;
        if (is_mp4()) {
            // Fragments, as in the files of a sink; the index is moved to the front at the end.
            dictionary.set("movflags", "frag_custom+delay_moov+default_base_moof");
            dictionary.set("use_editlist", 1);
        }
        check(avformat_write_header(format, dictionary.address()), "begin");
    }

    // Appends all parts, then the remaining companion packets, the chapters and the trailer; rewrites MP4 files with
    // the index in front.
    void run() {
        if (companions_) companions_->begin(0);
        for (const auto& part : parts_) {
            if (&part == &parts_.front()) {
                add(first_, part);
                continue;
            }
            PartReader reader(part.path, stop_);
            add(reader, part);
        }
        if (companions_) companions_->give_all(*format_, [this](AVPacket& packet) { return put_companion(packet); });
        if (!is_mp4()) add_chapters(*format_);
        check(av_write_trailer(format_.get()), "complete");
        file_->flush();
        check(file_->context()->error, "complete");
        format_->pb = nullptr;
        if (is_mp4())
            put_moov_in_front(file_->file(), *format_, muxer_, packets_, {}, mp4_movie_ticks,
                              [this](AVFormatContext& to) { add_chapters(to); });
        file_->file().finish();
    }

private:
    bool is_mp4() const { return muxer_ == "mp4" || muxer_ == "mov"; }

    // Rethrows an error of a write callback, or reports FFmpeg's own error.
    void check(int result, const char* doing) {
        failure_.rethrow();
        if (result < 0) fail(ErrorCode::io, "cannot {} {}: {}", doing, name_, ffmpeg_error(result));
    }

    // Adds audio, subtitles and metadata of the medium, as a video sink does. If the file cannot be read again, the
    // output is written without them.
    void bring_along(const MediumFile& medium, bool audio) {
        try {
            const auto rate = first_.stream().avg_frame_rate;
            companions_.emplace(medium, Rational{rate.num, std::max(rate.den, 1)}, SinkOptions{.audio = audio});
        } catch (const Error& error) {
            log_warning("{}: written without the audio and subtitles of {}: {}", name_, medium.path, error.what());
            return;
        }
        companions_->join(*format_, name_);
    }

    // MP4 stores chapters as a track in the rewritten header; Matroska accepts them with the trailer.
    void add_chapters(AVFormatContext& to) const {
        if (companions_) companions_->add_chapters(to, std::numeric_limits<double>::infinity());
    }

    // Writes a packet of a copied stream; returns false if the muxer rejects it.
    bool put_companion(AVPacket& packet) {
        ++packets_;
        const int result = av_write_frame(format_.get(), &packet);
        if (failure_.any()) check(result, "write");
        return result >= 0;
    }

    // Appends one part, shifted to its start time.
    void add(PartReader& reader, const VideoPart& part) {
        if (!same_coding(*stream_->codecpar, *reader.stream().codecpar))
            fail(ErrorCode::config, "{} is encoded differently from the previous segment and cannot be joined",
                 part.path);
        // AVI has a constant rate and no timestamps: times are frame numbers.
        const auto shift =
            muxer_ == "avi" ? frames_ : std::llround(part.begin_seconds / av_q2d(reader.stream().time_base));
        while (reader.read(*packet_)) {
            if (packet_->dts == AV_NOPTS_VALUE) packet_->dts = packet_->pts;
            if (packet_->dts == AV_NOPTS_VALUE) fail(ErrorCode::no_input, "{} has no timestamps", part.path);
            if (packet_->pts != AV_NOPTS_VALUE) packet_->pts += shift;
            packet_->dts += shift;
            ++frames_;
            mux(*packet_, reader.stream().time_base);
        }
    }

    // Writes one video packet, after the companion packets that precede it in time.
    void mux(AVPacket& packet, AVRational clock) {
        if (companions_)
            companions_->give_until(static_cast<double>(packet.dts) * av_q2d(clock), *format_,
                                    [this](AVPacket& other) { return put_companion(other); });
        av_packet_rescale_ts(&packet, clock, stream_->time_base);
        packet.stream_index = stream_->index;
        packet.pos = -1;
        // At the start of a part, an encoder uses smaller decoding delays than in the middle, so decoding times may
        // overlap with the previous part: keep them strictly increasing.
        packet.dts = std::max(packet.dts, last_dts_ + 1);
        if (packet.pts != AV_NOPTS_VALUE && packet.pts < packet.dts)
            fail(ErrorCode::config, "the timestamps of {} cannot be joined", name_);
        last_dts_ = packet.dts;
        ++packets_;
        held_bytes_ += packet.size;
        check(companions_ ? av_write_frame(format_.get(), &packet) : av_interleaved_write_frame(format_.get(), &packet),
              "write");
        if (is_mp4() && held_bytes_ >= most_held_back_bytes) {
            flush_mp4();
            held_bytes_ = 0;
        }
    }

    // Ends the current fragment, as a video sink does.
    void flush_mp4() {
        if (companions_ && !companions_->described()) return;
        check(av_write_frame(format_.get(), nullptr), "write");
        begin_late_streams(*format_);
    }

    const std::vector<VideoPart>& parts_;
    std::string name_;
    std::stop_token stop_;
    PartReader first_;
    CallbackFailure failure_;
    std::optional<OutputIo> file_;
    OutputPointer format_;
    std::string muxer_;
    AVStream* stream_ = nullptr;
    std::optional<Companions> companions_;
    PacketPointer packet_ = make_packet();
    std::int64_t frames_ = 0, packets_ = 0, held_bytes_ = 0, last_dts_ = INT64_MIN / 2;
};

}  // namespace

void join_videos(const std::vector<VideoPart>& parts, const std::string& output, const OutputFileOptions& options,
                 const std::optional<MediumFile>& medium, bool audio) {
    initialise_ffmpeg();
    VideoJoin(parts, output, options, medium, audio).run();
}

}  // namespace framewire
