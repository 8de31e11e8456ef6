#pragma once

#include "framewire/media/sinks/sink_kind.hpp"

#include <memory>

namespace framewire {

/// A WebP file that is a still image of one frame and a moving one of several, which plays over and over. What becomes
/// of several is held in memory, encoded, until finish(). Throws as open_sink() does.
std::unique_ptr<Sink> open_webp_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                     const SinkOptions& options);

}  // namespace framewire
