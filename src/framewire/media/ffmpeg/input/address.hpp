#pragma once

#include <string>
#include <utility>
#include <vector>

namespace framewire {

/// What FFmpeg shall open, and how.
struct FfmpegAddress {
    enum class Kind { file, network, camera, generator };
    /// What a file may hold, by its name.
    enum class Contents { video, image, playlist };

    std::string name;    ///< for messages, without credentials
    std::string url;     ///< as FFmpeg wants it
    std::string format;  ///< FFmpeg's name of the demuxer; empty lets it find out
    Kind kind = Kind::file;
    Contents contents = Contents::video;  ///< of a file
    std::vector<std::pair<std::string, std::string>> options{};
};

}  // namespace framewire
