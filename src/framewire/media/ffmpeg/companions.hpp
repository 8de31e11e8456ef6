#pragma once

#include "framewire/media/ffmpeg/input.hpp"
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

/// Copies everything except the pictures from one file to another unchanged: audio, subtitles, chapters, the title and
/// other metadata. Reads the file a second time, in parallel with the pictures. Use an object from one thread.
class Companions {
public:
    /// `rate` is the frame rate of the output. Throws Error{no_input} if the file cannot be read again.
    Companions(const MediumFile& medium, Rational rate, const SinkOptions& options);

    /// Adds to `output`, after its existing streams, each stream that the container supports, and the metadata. Logs
    /// what is not copied. Call it before the header is written.
    void join(AVFormatContext& output, const std::string& name);
    /// Sets the source time that is 0 in the output. Call it once, before the functions below.
    void begin(double seconds);
    /// Function that receives a packet in the output's time base. It returns false to reject the packet; the rest of
    /// the packet's stream is then skipped.
    using Put = std::function<bool(AVPacket& packet)>;
    /// Passes all packets before `seconds`, in the output's time, to `put`.
    void give_until(double seconds, AVFormatContext& output, const Put& put);
    /// Passes the remaining packets to `put`.
    void give_all(AVFormatContext& output, const Put& put);
    /// Returns true once all AC-3 and E-AC-3 streams have started: MP4 cannot describe these before their first packet.
    bool described() const;
    /// Adds the chapters, or parts of them, that lie before `seconds` in the output. Call it once all packets have been
    /// passed to `put`.
    void add_chapters(AVFormatContext& output, double seconds) const;

private:
    struct FreeBsf {
        void operator()(AVBSFContext* filter) const noexcept { av_bsf_free(&filter); }
    };
    using BsfPointer = std::unique_ptr<AVBSFContext, FreeBsf>;
    struct Stream {
        const AVStream* in = nullptr;
        int out = -1;  // index in the output; -1: not copied
        std::int64_t last_dts = INT64_MIN;
        BsfPointer filter{};  // null: packets are copied unchanged
        StreamSplices splices{};
        std::size_t segment = 0;  // segment of the last packet read
    };

    // Adds one stream to the output, or warns that it is omitted.
    void add(Stream& stream, AVFormatContext& output, const std::string& name);
    // Logs which kinds of streams are not copied.
    void say_what_stays(const std::string& name) const;
    // Sets the time code of the output's first frame.
    void copy_time_code(AVFormatContext& output, const std::string& name) const;
    // Creates the filter that removes ADTS headers from AAC.
    BsfPointer adts_filter(const Stream& stream) const;

    // Reads the next packet to copy into packet_.
    bool read();
    // Reads a packet of a copied stream.
    bool read_packet();
    // Queues packet_ if its segment is not known yet.
    bool wait_for_pictures();
    // Returns true if a packet's segment is known.
    bool is_placed(const AVPacket& packet) const;
    // Shifts a packet to its segment.
    void place(Stream& stream, AVPacket& packet) const;
    // Returns the time of a packet in the output.
    double seconds_of(const AVPacket& packet) const;
    // Passes packet_ to `put`.
    void give(AVFormatContext& output, const Put& put);

    MediumFile medium_;
    bool audio_;
    Rational rate_;  // rate of the output's pictures
    double start_seconds_;
    std::string name_;
    SourceOptions source_options_;
    // Not affected by stop requests: frames that were read still get their audio.
    Interrupt interrupt_{std::stop_token()};
    std::optional<FfmpegDemuxer> demuxer_;
    std::vector<Stream> streams_;  // one per stream of the file
    PacketPointer packet_ = make_packet();
    int video_ = -1;                        // index of the video stream
    std::optional<StreamSplices> splices_;  // splices of the video stream, only for formats that have splices
    std::deque<PacketPointer> waiting_;     // packets that wait until the pictures reach their segment
    bool pending_ = false;                  // packet_ holds a packet that is not due yet
    bool over_ = false;
    double shift_seconds_ = 0;  // offset from the file's time to the output's
};

}  // namespace framewire
