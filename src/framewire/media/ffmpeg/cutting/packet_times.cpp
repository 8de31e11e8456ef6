// Frame times from packets. Containers store a presentation time per packet, so a pass over all packets gives the
// times of all frames at the speed of the disk. Anything that makes this ambiguous (missing or backward times, fields,
// corrupt packets) is reported as unknown, and callers decode instead.

#include "framewire/media/ffmpeg/cutting/packet_times.hpp"

#include "framewire/media/ffmpeg/input/demuxer.hpp"
#include "framewire/media/ffmpeg/input/limits.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

namespace framewire {
namespace {

using namespace std::chrono_literals;

// Longest wait for one packet of a file.
constexpr std::chrono::milliseconds file_patience_of_times = 60s;

// One pass over the packets of a file's best video stream.
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
            if (interrupt_.stopped()) return {.unknown = "it was stopped"};
            if (result < 0) return {.unknown = "it cannot be read to its end: " + ffmpeg_error(result)};
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
        if (packet.flags & AV_PKT_FLAG_CORRUPT) times_.unknown = "a packet of it is broken";
        if (packet.pts == AV_NOPTS_VALUE) times_.unknown = "its packets do not tell their times";
        if (const auto* parser = av_stream_get_parser(stream_);
            parser && (parser->picture_structure == AV_PICTURE_STRUCTURE_TOP_FIELD ||
                       parser->picture_structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD))
            times_.unknown = "its packets hold fields";
        if (std::ssize(frames_) == most_frames_of_times) times_.unknown = "it has too many frames";
        if (!times_.unknown.empty() || packet.pts < first_) return;
        // Frames that follow a key frame in decoding order may be displayed before it (open GOP), but not before the
        // previous key frame.
        if (entries_.size() > 1 && packet.pts < entries_[entries_.size() - 2]) times_.unknown = "its times go back";
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
    std::vector<std::int64_t> frames_, entries_;  // in ticks of the stream's time base
    FrameTimes times_;
};

}  // namespace

FrameTimes packet_times(const MediumFile& medium, const SourceOptions& options) {
    return PacketTimes(medium, options).read();
}

}  // namespace framewire
