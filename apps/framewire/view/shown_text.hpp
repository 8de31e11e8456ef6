#pragma once

#include <string>
#include <string_view>

namespace framewire::app {

/// Prepares a message for display with without_credentials() and then printable(). Every log line and error passes
/// through this function on output, so callers need not do it.
std::string shown_text(std::string_view text);

}  // namespace framewire::app
