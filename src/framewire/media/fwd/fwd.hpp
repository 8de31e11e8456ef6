#pragma once

#include "framewire/media/sinks/sink_kind.hpp"
#include "framewire/media/sources/frame_times.hpp"

#include <memory>
#include <string>
#include <vector>

namespace framewire {

/// What a `.fwd` file is told as `:key=value`: those of the difference encoder, and `key`.
std::vector<ParameterInfo> fwd_sink_parameters();
/// Packs frames as the difference stream does; see fwd/format.md. Throws as open_sink() does.
std::unique_ptr<Sink> open_fwd_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options);

/// Reads a `.fwd` file, over what is damaged of it. Throws as open_source() does.
std::unique_ptr<Source> open_fwd_source(const std::string& path, const SourceOptions& options);

/// When the frames of a `.fwd` file are, by its index; reading may begin at its pictures. Throws as open_source() does.
FrameTimes fwd_frame_times(const std::string& path, const SourceOptions& options);

}  // namespace framewire
