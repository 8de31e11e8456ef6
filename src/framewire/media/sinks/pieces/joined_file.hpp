#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// An output that was made of a stretch of a source.
struct FilePart {
    std::string path;
    double begin_seconds = 0;  ///< which time of the joined one is its 0; whole seconds
};

/// Whether outputs of this ending can be joined of parts: .jsonl and .txt (lines), .y4m, .bgr, .gray, .npy with frames
/// first, to the bytes of one that was made whole; and .mp4, .mkv, .avi.
bool can_be_joined(const std::string& path);

/// Joins them, in order. What goes along with the pictures of a file of video is taken from `medium`. Throws
/// Error{usage} on other endings, Error{io}, and Error{no_input} where a part is not as framewire writes it.
void join_files(const std::vector<FilePart>& parts, const std::string& output, const OutputFileOptions& options,
                const std::optional<MediumFile>& medium = {}, bool audio = true);

}  // namespace framewire
