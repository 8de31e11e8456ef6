#pragma once

#include <string>
#include <string_view>

namespace framewire {

/// Returns `text`, a message for someone on another machine, with each absolute path cut to its last component. A path
/// that contains blanks is recognised as a whole only in quotes or brackets. URLs stay as they are.
std::string without_paths(std::string_view text);

}  // namespace framewire
