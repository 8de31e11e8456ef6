#pragma once

// What FFmpeg may open. It goes by what a file holds, not by its name: without limits a playlist that is called
// photo.jpg shows other files of this machine, or has it ask servers.

#include "framewire/media/ffmpeg/input/address.hpp"

#include <optional>
#include <string>

namespace framewire {

/// What a file may hold by the ending of its name: `.m3u8`, `.m3u`, `.mpd` and `.ffconcat` are playlists, images as
/// is_image_name() has them.
FfmpegAddress::Contents contents_of(const std::string& path);

/// For FFmpeg's option format_whitelist. Files are read by demuxers of media, images by those of images; what leads to
/// other files (HLS, DASH, concat scripts ...) only for a playlist named so, and HLS and DASH from http servers. Empty
/// for cameras and generators, which are no files.
std::string allowed_formats(const FfmpegAddress& address);

/// For FFmpeg's option protocol_whitelist: files stay with files, and the network with the network. Empty for cameras
/// and generators.
std::string allowed_protocols(const FfmpegAddress& address);

/// What a file holds that allowed_formats() leaves out.
struct RefusedFormat {
    std::string name;  ///< in FFmpeg's words
    bool is_playlist;  ///< that would be followed under another name
};

/// Looks into a file that could not be opened; nothing where what it holds is allowed or unknown.
std::optional<RefusedFormat> refused_format(const FfmpegAddress& file);

}  // namespace framewire
