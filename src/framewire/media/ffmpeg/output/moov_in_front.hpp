#pragma once

#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/files/output_file.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace framewire {

/// Last video packet in decoding order.
struct LastPicture {
    std::int64_t number = 0;  ///< from 1
    std::int64_t ticks = 0;   ///< its duration, if that is long
    AVRational clock{};
};

/// Ticks per second of the movie time scale, in which MP4 stores the start times of streams by default; each stream
/// has its own time scale for everything else.
inline constexpr int mp4_movie_ticks = 1000;

/// Rewrites a complete fragmented MP4 or QuickTime file with a single index (`moov` box) before the media data, as
/// players, editors and downloads prefer (ISO/IEC 14496-12). `written` is the muxer that wrote it, for metadata;
/// `packets` is the number of packets written, which bounds the size of the index; `movie_ticks` is mp4_movie_ticks or
/// the muxer's own value; `add_chapters` is called before the new header. If this fails, for example on a full disk,
/// the file stays unchanged and a warning is logged.
void put_moov_in_front(OutputFile& file, const AVFormatContext& written, const std::string& muxer, std::int64_t packets,
                       const LastPicture& last, int movie_ticks,
                       const std::function<void(AVFormatContext&)>& add_chapters);

/// Call it after each fragment of an MP4 file that is written with `delay_moov`. Streams that have not started by then
/// get the time of their first packet from its fragment; the index is already written, and FFmpeg's muxer would make
/// them start at 0. Streams that have started are unchanged.
void begin_late_streams(AVFormatContext& format);

}  // namespace framewire
