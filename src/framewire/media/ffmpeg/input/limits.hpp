#pragma once

// Limits on what FFmpeg may open. FFmpeg detects formats by content, not by name: without limits, a playlist named
// photo.jpg could expose other files of this machine or make it contact servers.

#include "framewire/media/ffmpeg/input/address.hpp"

#include <optional>
#include <string>

namespace framewire {

/// Content that the extension of a file allows: `.m3u8`, `.m3u`, `.mpd` and `.ffconcat` are playlists, and
/// is_image_name() decides for images.
FfmpegAddress::Contents contents_of(const std::string& path);

/// Value for FFmpeg's option format_whitelist. Files may use media demuxers, images may use image demuxers. Demuxers
/// that refer to other files (HLS, DASH, concat scripts ...) are allowed only for files with a playlist extension, and
/// HLS and DASH also from HTTP servers. Empty for cameras and generators, which are not files.
std::string allowed_formats(const FfmpegAddress& address);

/// Value for FFmpeg's option protocol_whitelist: files may refer to files only, network sources to the network only.
/// Empty for cameras and generators.
std::string allowed_protocols(const FfmpegAddress& address);

/// Format of a file that allowed_formats() excludes.
struct RefusedFormat {
    std::string name;  ///< FFmpeg's name of the format
    bool is_playlist;  ///< it would be read if the file had a playlist extension
};

/// Probes a file that could not be opened. Returns nullopt if its format is allowed or unknown.
std::optional<RefusedFormat> refused_format(const FfmpegAddress& file);

}  // namespace framewire
