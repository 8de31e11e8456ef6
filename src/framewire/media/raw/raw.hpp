#pragma once

#include "framewire/media/media.hpp"

#include <memory>
#include <string>

namespace framewire {

/// Opens a sink for raw bytes at `path` (- for standard output): BGR for 3 `channels` (gray is repeated in all three),
/// gray for 1. Rows and frames follow each other without padding. Throws Error{usage} for BGR frames with 1 channel,
/// otherwise as open_sink() does.
std::unique_ptr<Sink> open_raw_sink(const std::string& path, int channels, const Shape& frame,
                                    const SinkOptions& options);

}  // namespace framewire
