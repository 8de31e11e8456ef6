#pragma once

#include "framewire/media/sinks.hpp"

#include <memory>

namespace framewire {

/// Opens a video file, an HLS recording (.m3u8) or a network address as a Sink. Throws as open_sink() does.
std::unique_ptr<Sink> open_ffmpeg_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                       const SinkOptions& options);

/// Opens a WebP file as a Sink: a still image for one frame, an endlessly looping animation for several. The encoded
/// frames of an animation stay in memory until finish(). Throws as open_sink() does.
std::unique_ptr<Sink> open_webp_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                     const SinkOptions& options);

}  // namespace framewire
