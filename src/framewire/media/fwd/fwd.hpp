#pragma once

#include "framewire/media/sinks/sink_kind.hpp"
#include "framewire/media/sources/frame_times.hpp"

#include <memory>
#include <string>
#include <vector>

namespace framewire {

/// Parameters of a `.fwd` sink: those of the difference encoder, and `key`.
std::vector<ParameterInfo> fwd_sink_parameters();
/// Opens a sink that writes frames as a difference stream; see fwd/format.md. Throws as open_sink() does.
std::unique_ptr<Sink> open_fwd_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options);

/// Opens a `.fwd` file as a Source; damaged parts are reported and skipped. Throws as open_source() does.
std::unique_ptr<Source> open_fwd_source(const std::string& path, const SourceOptions& options);

/// Frame times of a `.fwd` file, from its index; its keyframes are the entry points. Throws as open_source() does.
FrameTimes fwd_frame_times(const std::string& path, const SourceOptions& options);

}  // namespace framewire
