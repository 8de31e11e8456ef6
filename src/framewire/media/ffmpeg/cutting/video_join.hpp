#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/source.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// A file of video that was made of a stretch of another.
struct VideoPart {
    std::string path;
    double begin_seconds = 0;  ///< which time of the joined file is its 0; whole seconds, which every clock can tell
};

/// Joins files of one ending (`.mp4`, `.mkv`, `.avi` ...) that open_sink() wrote with the same options, packet by
/// packet: nothing is decoded or encoded. What goes along with the pictures is taken from `medium`, as open_sink()
/// does. Throws Error{io}, Error{config} where the parts were encoded otherwise, Error{no_input} where one cannot be
/// read.
void join_videos(const std::vector<VideoPart>& parts, const std::string& output, const OutputFileOptions& options,
                 const std::optional<MediumFile>& medium, bool audio);

}  // namespace framewire
