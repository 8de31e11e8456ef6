#pragma once

#include "framewire/media/ffmpeg/input.hpp"
#include "framewire/media/media.hpp"

#include <memory>

namespace framewire {

/// Opens anything that FFmpeg reads as a Source: files, images, URLs, cameras, test patterns. Lost cameras and
/// broadcasts are reopened with growing pauses, options.retries times or for options.reconnect; then read() throws
/// Error{source_lost}. Pictures whose size differs from the first are scaled to it. Throws Error{no_input}, or
/// Error{source_lost} if there is a video but no frame can be decoded.
std::unique_ptr<Source> open_ffmpeg_source(FfmpegAddress address, const SourceOptions& options);

}  // namespace framewire
