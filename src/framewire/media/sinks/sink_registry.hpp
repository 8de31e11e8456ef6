#pragma once

#include "framewire/media/sinks/sink_kind.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// All kinds of sinks.
const std::vector<SinkKind>& sink_registry();

/// Prefix of a path that is not parsed.
inline constexpr std::string_view literal_path_prefix = "file://";

/// Parses the text of a sink, `PATH:key=value:key=value`. The path ends at the first colon that follows a known
/// extension or an address and precedes a key and '='; other colons belong to the path. After `file://` the whole text
/// is the path, without parameters or a frame number. Throws Error{usage} on an unknown extension, an unknown key, or
/// an invalid value.
SinkCall parse_sink(const std::string& text);

}  // namespace framewire
