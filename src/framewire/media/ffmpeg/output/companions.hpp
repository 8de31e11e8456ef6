#pragma once

#include "framewire/media/ffmpeg/input/demuxer.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/media.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// What goes along with the pictures of a file into another one, as it is: sound, subtitles, chapters, the title and
/// other words. It is read from the file once more, beside the pictures.
class Companions {
public:
    /// Throws Error{no_input} where the file cannot be read again.
    Companions(const MediumFile& medium, const SinkOptions& options);

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
    /// Adds what of the chapters is before `seconds` of the output. To be called once all packets were given.
    void add_chapters(AVFormatContext& output, double seconds) const;

private:
    struct Stream {
        const AVStream* in = nullptr;
        int out = -1;  // none: left out
        std::int64_t last_dts = INT64_MIN;
    };

    bool read();
    double seconds_of(const AVPacket& packet) const;
    void give(AVFormatContext& output, const Put& put);

    MediumFile medium_;
    bool audio_;
    std::string name_;
    SourceOptions source_options_;
    Interrupt interrupt_{std::stop_token()};  // what was read of the pictures gets its sound, a stop notwithstanding
    std::optional<FfmpegDemuxer> demuxer_;
    std::vector<Stream> streams_;  // as many as the file has
    PacketPointer packet_ = make_packet();
    bool pending_ = false;  // packet_ waits for its time
    bool over_ = false;
    double shift_seconds_ = 0;  // from the file's times to the output's
};

}  // namespace framewire
