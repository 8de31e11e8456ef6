#pragma once

#include "framewire/media/ffmpeg/libav.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// Continuous clock for formats whose timestamps may restart: concatenated transport streams, HLS discontinuities. At
/// a jump in the timestamps a new segment starts and follows the previous one without a gap.
class StreamSplices {
public:
    StreamSplices() = default;
    /// If `forward` is true, a jump ahead also starts a segment. In a live stream such a jump can be a reception gap.
    StreamSplices(const AVStream& stream, bool forward);

    /// True for formats whose timestamps may restart.
    static bool may_occur(const AVFormatContext& format);

    /// Processes the next packet of the stream as read. Returns true if it starts a new segment.
    bool take(const AVPacket& packet);
    /// Shifts the timestamps of the packet that was passed to take() last to the position of its segment.
    void place(AVPacket& packet) const { move(packet, offsets_.back()); }

    /// Number of segments that have started.
    std::size_t segments() const { return offsets_.size(); }
    /// Shift of a segment, in ticks of time_base().
    std::int64_t offset(std::size_t segment) const { return offsets_[segment]; }
    /// Time base of the stream.
    AVRational time_base() const { return time_base_; }

    /// Adds `ticks` to the timestamps of a packet.
    static void move(AVPacket& packet, std::int64_t ticks);

private:
    AVRational time_base_{1, 90'000};
    bool forward_ = true;
    std::int64_t frame_ticks_ = 0;  // duration of packets that have none
    bool begun_ = false;
    std::int64_t last_dts_ = 0;  // as read
    std::int64_t end_ = 0;       // end of all packets so far, after placing
    std::vector<std::int64_t> offsets_{0};
};

}  // namespace framewire
