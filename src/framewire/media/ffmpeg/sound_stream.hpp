#pragma once

#include "framewire/media/ffmpeg/input.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/sound.hpp"

extern "C" {
#include <libavcodec/bsf.h>
}

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace framewire {

/// The sound of one opening of a source: gives the packets of its best audio stream to a tap. Use an object from one
/// thread.
class SoundStream {
public:
    /// Chooses the stream. `format` must outlive this object; `video` is the stream of its pictures, and `is_file` as
    /// for StreamSplices. `name` is the source's name in messages.
    SoundStream(AVFormatContext& format, const AVStream& video, bool is_file, std::shared_ptr<SoundTap> tap,
                const std::string& name);

    /// Makes the demuxer deliver the packets, or discard them if nobody wants them. Call it before each read.
    void choose();
    /// Takes a packet, which may be of any stream and is not changed. `start_ticks` is the start of the video stream,
    /// and `splices` are its splices, if the format has any.
    void take(const AVPacket& packet, std::int64_t start_ticks, const std::optional<StreamSplices>& splices);
    /// Forgets what was read; called after seeking.
    void begin();

private:
    struct FreeBsf {
        void operator()(AVBSFContext* filter) const noexcept { av_bsf_free(&filter); }
    };

    // Opens the filter that removes ADTS headers. Returns false if this FFmpeg has none.
    bool open_filter();
    // Sets the tap's format; without a valid one, the stream is not used.
    void describe(const std::uint8_t* header, std::size_t bytes);
    // Passes packets whose place is known to the tap.
    void give_waiting(std::int64_t start_ticks, const std::optional<StreamSplices>& splices);
    void give(AVPacket& packet, std::int64_t start_ticks);
    std::int64_t samples_of(const AVPacket& packet) const;

    const AVStream& video_;
    bool is_file_;
    std::shared_ptr<SoundTap> tap_;
    std::string name_;
    AVStream* stream_ = nullptr;  // null: there is no sound
    SoundCodec codec_ = SoundCodec::aac;
    std::unique_ptr<AVBSFContext, FreeBsf> filter_{};  // null: packets are passed on as they are
    std::shared_ptr<const SoundFormat> format_{};      // null: not known yet
    PacketPointer packet_ = make_packet();
    StreamSplices splices_{};  // of this stream
    std::size_t segment_ = 0;
    // Packet that waits until the pictures reach its segment.
    struct Waiting {
        PacketPointer packet;
        std::size_t segment;
    };
    std::deque<Waiting> waiting_;
};

}  // namespace framewire
