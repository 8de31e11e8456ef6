#pragma once

#include <string_view>

namespace framewire {

/// Returns the filter, as text of a chain, that does what FFmpeg's filter `name` does: "flip=vertical" for
/// vflip. Empty if there is none, or if the name is a filter here too.
std::string_view filter_like_ffmpegs(std::string_view name);

}  // namespace framewire
