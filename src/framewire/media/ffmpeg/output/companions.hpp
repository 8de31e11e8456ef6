#pragma once

#include "framewire/media/ffmpeg/input/demuxer.hpp"
#include "framewire/media/ffmpeg/input/splices.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/media.hpp"

extern "C" {
#include <libavcodec/bsf.h>
}

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// What goes along with the pictures of a file into another one, as it is: sound, subtitles, chapters, the title and
/// other words. It is read from the file once more, beside the pictures.
class Companions {
public:
    /// Throws Error{no_input} where the file cannot be read again.
    /// `rate` is that of the output's pictures.
    Companions(const MediumFile& medium, Rational rate, const SinkOptions& options);

    /// Adds a stream for each that the container of `output` takes, behind those that are there, and the words. What is
    /// left out is said. To be called before the header.
    void join(AVFormatContext& output, const std::string& name);
    /// Says which time of the source is the output's 0. To be called once, before what follows.
    void begin(double seconds);
    /// Gives `put` all packets before `seconds` of the output, in its own time bases. A stream whose packets `put`
    /// refuses (false) is left out from there on.
    using Put = std::function<bool(AVPacket& packet)>;
    void give_until(double seconds, AVFormatContext& output, const Put& put);
    /// The rest.
    void give_all(AVFormatContext& output, const Put& put);
    /// True once every stream has begun that MP4 cannot describe before its first packet: AC-3 and E-AC-3.
    bool described() const;
    /// Adds what of the chapters is before `seconds` of the output. To be called once all packets were given.
    void add_chapters(AVFormatContext& output, double seconds) const;

private:
    struct FreeBsf {
        void operator()(AVBSFContext* filter) const noexcept { av_bsf_free(&filter); }
    };
    using BsfPointer = std::unique_ptr<AVBSFContext, FreeBsf>;
    struct Stream {
        const AVStream* in = nullptr;
        int out = -1;  // none: left out
        std::int64_t last_dts = INT64_MIN;
        BsfPointer filter{};  // null: packets are copied as they are
        StreamSplices splices{};
        std::size_t segment = 0;  // of the packet read last
    };

    void add(Stream& stream, AVFormatContext& output, const std::string& name);
    void say_what_stays(const std::string& name) const;
    void copy_time_code(AVFormatContext& output, const std::string& name) const;
    BsfPointer adts_filter(const Stream& stream) const;

    bool read();
    bool read_packet();
    bool wait_for_pictures();
    bool is_placed(const AVPacket& packet) const;
    void place(Stream& stream, AVPacket& packet) const;
    double seconds_of(const AVPacket& packet) const;
    void give(AVFormatContext& output, const Put& put);

    MediumFile medium_;
    bool audio_;
    Rational rate_;  // of the output's pictures
    double start_seconds_;
    std::string name_;
    SourceOptions source_options_;
    Interrupt interrupt_{std::stop_token()};  // what was read of the pictures gets its sound, a stop notwithstanding
    std::optional<FfmpegDemuxer> demuxer_;
    std::vector<Stream> streams_;  // as many as the file has
    PacketPointer packet_ = make_packet();
    int video_ = -1;                        // the stream of the pictures
    std::optional<StreamSplices> splices_;  // of the pictures, in formats that have any
    std::deque<PacketPointer> waiting_;     // for the pictures to come to their segment
    bool pending_ = false;                  // packet_ waits for its time
    bool over_ = false;
    double shift_seconds_ = 0;  // from the file's times to the output's
};

}  // namespace framewire
