#pragma once

#include "framewire/media/media.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace framewire {

/// Raw bytes without a header: "PATH:size=WxH:format=bgr|gray:fps=30", what follows "raw:". Throws as open_source().
std::unique_ptr<Source> open_raw_source(const std::string& text, const SourceOptions& options);

/// The PATH of such a text. Throws Error{usage} on parameters it does not know.
std::string raw_path(std::string_view text);

/// Raw bytes to `path`: BGR where it ends in .bgr (gray is repeated in all three channels), gray where in .gray.
/// Throws Error{usage} on BGR frames for .gray, else as open_sink().
std::unique_ptr<Sink> open_raw_sink(const std::string& path, const Shape& frame, const SinkOptions& options);

}  // namespace framewire
