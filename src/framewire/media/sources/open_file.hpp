#pragma once

#include "framewire/media/media.hpp"

#include <memory>
#include <string>

namespace framewire {

/// Opens a file with FFmpeg, even if its name is that of a y4m or PNG file. Throws as open_source() does.
std::unique_ptr<Source> open_with_ffmpeg(const std::string& path, const SourceOptions& options);

/// Opens an image with libpng or FFmpeg, depending on its extension. Throws as open_source() does.
std::unique_ptr<Source> open_image(const std::string& path, const SourceOptions& options);

/// Throws Error{config}; the message lists what a build without FFmpeg reads.
[[noreturn]] void fail_without_ffmpeg(const std::string& text);

}  // namespace framewire
