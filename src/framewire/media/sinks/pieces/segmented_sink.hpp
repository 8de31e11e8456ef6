#pragma once

#include "framewire/media/sinks/sink_kind.hpp"

#include <memory>

namespace framewire {

/// A recording in pieces of options.segments.seconds, each a file of its own by the PieceNames of the call's path. A
/// piece begins with the first frame of its time, which is a key frame, and no frame is lost between two: a piece is
/// completed beside the next one. Then pieces beyond what options.segments keeps are removed, the oldest first, but
/// never the newest. Throws as open_sink() and PieceNames do.
std::unique_ptr<Sink> open_segmented_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                          const SinkOptions& options);

}  // namespace framewire
