// Turns restarting timestamps into one continuous clock:
//
//    as read     100 101 102 |   0   1   2 |  50  51
//    placed      100 101 102 | 103 104 105 | 106 107
//    offset        0         | 103         |  56
//
// (for packets with a duration of one tick).

#include "framewire/media/ffmpeg/input/splices.hpp"

extern "C" {
#include <libavutil/common.h>
}

#include <algorithm>

namespace framewire {
namespace {

// Thresholds as in FFmpeg's own tools: packets may be slightly out of order, and a stream may pause.
constexpr AVRational least_jump_back{1, 10}, least_jump_ahead{10, 1};

std::int64_t ticks_of(AVRational seconds, AVRational time_base) { return av_rescale_q(1, seconds, time_base); }

}  // namespace

StreamSplices::StreamSplices(const AVStream& stream, bool forward) : time_base_(stream.time_base), forward_(forward) {
    const auto& parameters = *stream.codecpar;
    if (parameters.codec_type == AVMEDIA_TYPE_VIDEO && stream.avg_frame_rate.num > 0 && stream.avg_frame_rate.den > 0)
        frame_ticks_ = av_rescale_q(1, av_inv_q(stream.avg_frame_rate), time_base_);
}

bool StreamSplices::may_occur(const AVFormatContext& format) { return format.iformat->flags & AVFMT_TS_DISCONT; }

void StreamSplices::move(AVPacket& packet, std::int64_t ticks) {
    if (packet.pts != AV_NOPTS_VALUE) packet.pts = av_sat_add64(packet.pts, ticks);
    if (packet.dts != AV_NOPTS_VALUE) packet.dts = av_sat_add64(packet.dts, ticks);
}

bool StreamSplices::take(const AVPacket& packet) {
    bool jumps = false;
    // Decide by decoding times: presentation times go back at every B-frame.
    if (packet.dts != AV_NOPTS_VALUE) {
        const auto step = av_sat_sub64(packet.dts, last_dts_);
        jumps = begun_ && (step < -ticks_of(least_jump_back, time_base_) ||
                           (forward_ && step > ticks_of(least_jump_ahead, time_base_)));
        last_dts_ = packet.dts;
    }
    const auto pts = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    if (pts == AV_NOPTS_VALUE) return false;
    // The new segment starts where the previous ones end.
    if (jumps) offsets_.push_back(av_sat_sub64(end_, pts));
    const auto duration = packet.duration > 0 ? packet.duration : frame_ticks_;
    const auto end = av_sat_add64(av_sat_add64(pts, offsets_.back()), duration);
    end_ = begun_ ? std::max(end_, end) : end;
    begun_ = begun_ || packet.dts != AV_NOPTS_VALUE;
    return jumps;
}

}  // namespace framewire
