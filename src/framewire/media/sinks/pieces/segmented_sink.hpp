#pragma once

#include "framewire/media/sinks/sink_kind.hpp"

#include <memory>

namespace framewire {

/// Opens a sink that records segments of options.segments.seconds, each in its own file named by PieceNames from the
/// call's path. A segment starts with a key frame, the first frame of its time, and no frame is lost between segments:
/// a segment is completed in the background while the next one is written. Then the oldest segments beyond what
/// options.segments keeps are removed, but never the newest one. Throws as open_sink() and PieceNames do.
std::unique_ptr<Sink> open_segmented_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                          const SinkOptions& options);

}  // namespace framewire
