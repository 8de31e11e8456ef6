#pragma once

#include "framewire/media/ffmpeg/libav.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// The clock of a stream in formats whose clock may start anew: transport streams put one after another, HLS
/// discontinuities. Where its times jump, a new segment begins, and follows the one before without a gap.
class StreamSplices {
public:
    StreamSplices() = default;
    /// `forward` tells whether a jump ahead starts a segment, too. In a live stream it may be a gap in the reception.
    StreamSplices(const AVStream& stream, bool forward);

    /// True for formats whose clock may start anew.
    static bool may_occur(const AVFormatContext& format);

    /// Takes the stream's next packet as it was read. Returns true if it begins a new segment.
    bool take(const AVPacket& packet);
    /// Moves the packet to where its segment lies. For the packet that was taken last.
    void place(AVPacket& packet) const { move(packet, offsets_.back()); }

    /// Number of segments that have begun.
    std::size_t segments() const { return offsets_.size(); }
    /// Ticks of time_base() by which a segment is moved.
    std::int64_t offset(std::size_t segment) const { return offsets_[segment]; }
    AVRational time_base() const { return time_base_; }

    static void move(AVPacket& packet, std::int64_t ticks);

private:
    AVRational time_base_{1, 90'000};
    bool forward_ = true;
    std::int64_t frame_ticks_ = 0;  // duration of a packet that tells none
    bool begun_ = false;
    std::int64_t last_dts_ = 0;  // as read
    std::int64_t end_ = 0;       // of all packets so far, as placed
    std::vector<std::int64_t> offsets_{0};
};

}  // namespace framewire
