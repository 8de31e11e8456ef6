#pragma once

#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/files/output_file.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace framewire {

/// The last packet of the pictures, in the order of decoding.
struct LastPicture {
    std::int64_t number = 0;  // from 1
    std::int64_t ticks = 0;   // how long it lasts, where that is long
    AVRational clock{};
};

/// Ticks a second by which such a file tells when its streams begin, where not told otherwise; they have own ones for
/// the rest.
inline constexpr int mp4_movie_ticks = 1000;

/// Writes a whole fragmented MP4 or QuickTime file anew as one with a single table of its frames before them, as
/// players, editors and downloads want it. `written` is what wrote it, for its words; `packets` how many it wrote,
/// which bounds the table; `movie_ticks` is mp4_movie_ticks or its own; `add_chapters` is called before the new header.
/// Where that fails, a full disk for one, the file stays as it is and a warning says so.
void put_moov_in_front(OutputFile& file, const AVFormatContext& written, const std::string& muxer, std::int64_t packets,
                       const LastPicture& last, int movie_ticks,
                       const std::function<void(AVFormatContext&)>& add_chapters);

/// After each fragment of an MP4 file that is written with `delay_moov`: streams that have not begun by then get the
/// time of their first packet from its fragment. The table is written already, and FFmpeg's muxer would let them begin
/// at 0. Streams that have begun stay as they are.
void begin_late_streams(AVFormatContext& format);

}  // namespace framewire
