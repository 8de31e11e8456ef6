#pragma once

#include "framewire/media/sinks/sink_kind.hpp"

#include <memory>

namespace framewire {

/// Opens a WebP file as a Sink: a still image for one frame, an endlessly looping animation for several. The encoded
/// frames of an animation stay in memory until finish(). Throws as open_sink() does.
std::unique_ptr<Sink> open_webp_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                     const SinkOptions& options);

}  // namespace framewire
