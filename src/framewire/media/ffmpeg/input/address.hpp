#pragma once

#include <string>
#include <utility>
#include <vector>

namespace framewire {

/// Address that FFmpeg opens, with its options.
struct FfmpegAddress {
    enum class Kind { file, network, camera, generator };
    /// Kind of content that a file name allows.
    enum class Contents { video, image, playlist };

    std::string name;    ///< for messages, without credentials
    std::string url;     ///< in FFmpeg's syntax
    std::string format;  ///< FFmpeg's name of the demuxer; empty: detected
    Kind kind = Kind::file;
    Contents contents = Contents::video;  ///< of a file
    std::vector<std::pair<std::string, std::string>> options{};
};

}  // namespace framewire
