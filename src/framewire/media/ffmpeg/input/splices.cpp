#include "framewire/media/ffmpeg/input/splices.hpp"

extern "C" {
#include <libavutil/common.h>
}

#include <algorithm>

namespace framewire {
namespace {

// As FFmpeg's own program and players have it: packets may be a little out of order, and a stream may pause.
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
    const auto dts = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
    if (dts == AV_NOPTS_VALUE) return false;
    const auto pts = packet.pts != AV_NOPTS_VALUE ? packet.pts : dts;
    const auto step = av_sat_sub64(dts, last_dts_);
    const bool jumps = begun_ && (step < -ticks_of(least_jump_back, time_base_) ||
                                  (forward_ && step > ticks_of(least_jump_ahead, time_base_)));
    if (jumps) offsets_.push_back(av_sat_sub64(end_, pts));
    last_dts_ = dts;
    const auto end =
        av_sat_add64(av_sat_add64(pts, offsets_.back()), packet.duration > 0 ? packet.duration : frame_ticks_);
    end_ = begun_ ? std::max(end_, end) : end;
    begun_ = true;
    return jumps;
}

}  // namespace framewire
