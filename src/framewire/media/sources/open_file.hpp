#pragma once

#include "framewire/media/media.hpp"

#include <memory>
#include <string>

namespace framewire {

/// A file as FFmpeg reads it, whatever its name says of y4m and PNG. Throws as open_source() does.
std::unique_ptr<Source> open_with_ffmpeg(const std::string& path, const SourceOptions& options);

/// An image by its ending: libpng's or FFmpeg's. Throws as open_source() does.
std::unique_ptr<Source> open_image(const std::string& path, const SourceOptions& options);

/// Throws Error{config}, saying what a build without FFmpeg knows.
[[noreturn]] void fail_without_ffmpeg(const std::string& text);

}  // namespace framewire
