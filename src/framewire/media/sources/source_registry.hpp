#pragma once

#include "framewire/media/sources/source_kind.hpp"

#include <string>
#include <vector>

namespace framewire {

/// Every kind of source there is, in the order in which they are asked whether a text is theirs. Adding one is adding
/// its room, its line in a CMakeLists.txt and its line in source_registry.cpp.
const std::vector<SourceKind>& source_registry();

/// Finds the kind of a text and reads its parameters. Does not open anything, but looks what is at a path. Throws
/// Error{usage} on an empty text, and on parameters that are not allowed, saying what is and the nearest name.
SourceCall parse_source(const std::string& text);

}  // namespace framewire
