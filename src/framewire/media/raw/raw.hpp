#pragma once

#include "framewire/media/media.hpp"

#include <memory>
#include <string>

namespace framewire {

/// Raw bytes to `path`: BGR where it ends in .bgr (gray is repeated in all three channels), gray where in .gray.
/// Throws Error{usage} on BGR frames for .gray, else as open_sink().
std::unique_ptr<Sink> open_raw_sink(const std::string& path, const Shape& frame, const SinkOptions& options);

}  // namespace framewire
