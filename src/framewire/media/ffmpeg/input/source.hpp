#pragma once

#include "framewire/media/ffmpeg/input/address.hpp"
#include "framewire/media/media.hpp"

#include <memory>

namespace framewire {

/// Anything FFmpeg reads as a Source: files, images, URLs, cameras, test pictures. Lost cameras and broadcasts are
/// opened again with growing pauses, for options.retries times or as long as options.reconnect says; then reads throw
/// Error{source_lost}. Pictures of another size than the first are scaled to that.
/// Throws Error{no_input}, or Error{source_lost} when there is a video but not one frame of it can be decoded.
std::unique_ptr<Source> open_ffmpeg_source(FfmpegAddress address, const SourceOptions& options);

}  // namespace framewire
