#pragma once

#include "framewire/media/sources/source_kind.hpp"

#include <string>
#include <vector>

namespace framewire {

/// All kinds of sources, in the order in which they are matched against a text. To add a kind, add its folder, its
/// line in a CMakeLists.txt and its line in source_registry.cpp.
const std::vector<SourceKind>& source_registry();

/// Finds the kind of a text and parses its parameters. Opens nothing, but checks what exists at a path. Throws
/// Error{usage} on an empty text and on invalid parameters; the message lists what is allowed and suggests the nearest
/// name.
SourceCall parse_source(const std::string& text);

}  // namespace framewire
