#pragma once

#include <string_view>

namespace framewire::session {

/// How it is shown what changed: red on black, red over the picture, or by how much.
enum class ChangesKind { mask, overlay, heat };

/// Reads "mask", "overlay" or "heat". Throws Error{usage} on anything else.
ChangesKind parse_changes(std::string_view text);

}  // namespace framewire::session
