#pragma once

#include "framewire/media/media.hpp"

#include <memory>
#include <string>

namespace framewire {

/// Raw bytes to `path`, - for standard output: BGR with 3 channels (gray is repeated in all three), gray with 1.
/// Throws Error{usage} on BGR frames for 1 channel, else as open_sink().
std::unique_ptr<Sink> open_raw_sink(const std::string& path, int channels, const Shape& frame,
                                    const SinkOptions& options);

}  // namespace framewire
