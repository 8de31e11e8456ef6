#pragma once

#include <string>
#include <string_view>

namespace framewire {

/// `text`, a message for somebody elsewhere, without folders of this machine: of each absolute path the last part
/// stays. A path that holds blanks is found as a whole if it is in quotes or brackets. URLs stay as they are.
std::string without_paths(std::string_view text);

}  // namespace framewire
