#pragma once

#include "framewire/media/output_file.hpp"
#include "framewire/media/sources.hpp"
#include "framewire/plan/source.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// Returns the times of a video's frames. Reads all packets without decoding them. FrameTimes::unknown gives the reason
/// if packets have no times, go back in time, contain fields, or are corrupt. A key frame is an entry point if all
/// packets before it belong to earlier frames. Throws Error{no_input} if the file cannot be opened.
FrameTimes packet_times(const MediumFile& medium, const SourceOptions& options);

/// Video file encoded from one time range of a source.
struct VideoPart {
    std::string path;
    /// Start of this part in the joined file; whole seconds, which every time base represents exactly.
    double begin_seconds = 0;
};

/// Joins files with the same extension (`.mp4`, `.mkv`, `.avi` ...) that open_sink() wrote with the same options,
/// packet by packet, without decoding or encoding. Copies audio, subtitles and metadata from `medium`, as open_sink()
/// does. Throws Error{io}, Error{config} if the parts have different encoder settings, and Error{no_input} if a part
/// cannot be read.
void join_videos(const std::vector<VideoPart>& parts, const std::string& output, const OutputFileOptions& options,
                 const std::optional<MediumFile>& medium, bool audio);

}  // namespace framewire
