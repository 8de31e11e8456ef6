#pragma once

#include "framewire/media/sinks/sink_kind.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// All kinds of sinks there are.
const std::vector<SinkKind>& sink_registry();

/// Before a path that is taken as it is.
inline constexpr std::string_view literal_path_prefix = "file://";

/// Understands the text of a sink, `PATH:key=value:key=value`. The path ends at the first colon that follows a known
/// ending, or an address, and that a key and '=' follow; other colons are its own. After `file://` everything is the
/// path: it holds neither parameters nor a number for each frame.
/// Throws Error{usage} on an ending that is not known, on unknown keys, and on values that are not allowed.
SinkCall parse_sink(const std::string& text);

}  // namespace framewire
