#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// Output that was made from one time range of a source.
struct FilePart {
    std::string path;
    double begin_seconds = 0;  ///< source time, in whole seconds, that is 0 in the joined output
};

/// True if outputs with this extension can be joined: .jsonl and .txt (lines), .y4m, .bgr, .gray and .npy with frames
/// as first dimension, whose result is byte-identical to one made in a single run; and .mp4, .mkv, .avi.
bool can_be_joined(const std::string& path);

/// Joins parts in order. Audio, subtitles and metadata of a video file are copied from `medium`. Throws Error{usage}
/// on other extensions, Error{io}, and Error{no_input} if a part is not in the form that framewire writes.
void join_files(const std::vector<FilePart>& parts, const std::string& output, const OutputFileOptions& options,
                const std::optional<MediumFile>& medium = {}, bool audio = true);

}  // namespace framewire
