#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/source.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// Video file that was made from one time range of a source.
struct VideoPart {
    std::string path;
    /// Time in the joined file that is 0 here; whole seconds, which every time base represents exactly.
    double begin_seconds = 0;
};

/// Joins files with one extension (`.mp4`, `.mkv`, `.avi` ...) that open_sink() wrote with the same options, packet by
/// packet, without decoding or encoding. Audio, subtitles and metadata are copied from `medium`, as open_sink() does.
/// Throws Error{io}, Error{config} if the parts have different encoder settings, and Error{no_input} if one cannot be
/// read.
void join_videos(const std::vector<VideoPart>& parts, const std::string& output, const OutputFileOptions& options,
                 const std::optional<MediumFile>& medium, bool audio);

}  // namespace framewire
