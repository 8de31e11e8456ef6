#pragma once

#include "framewire/media/sinks/sink_kind.hpp"

#include <string>
#include <vector>

namespace framewire {

/// All kinds of sinks there are.
const std::vector<SinkKind>& sink_registry();

/// Understands the text of a sink, `PATH:key=value:key=value`. The path ends at the first colon that follows a known
/// ending, or an address, and that a key and '=' follow; other colons are its own. Behind `file://` all is the path.
/// Throws Error{usage} on an ending that is not known, on unknown keys, and on values that are not allowed.
SinkCall parse_sink(const std::string& text);

}  // namespace framewire
