#pragma once

#include <string_view>

namespace framewire::session {

/// How changes are displayed: as a mask (red on black), as an overlay (red over the picture), or as a heatmap of their
/// size.
enum class ChangesKind { mask, overlay, heat };

/// Parses "mask", "overlay" or "heat". Throws Error{usage} for anything else.
ChangesKind parse_changes(std::string_view text);

}  // namespace framewire::session
