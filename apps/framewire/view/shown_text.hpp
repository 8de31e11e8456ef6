#pragma once

#include <string>
#include <string_view>

namespace framewire::app {

/// Prepares a message for display: without_credentials(), then printable(). Every log line and error passes through
/// here on output, so that callers need not do it.
std::string shown_text(std::string_view text);

}  // namespace framewire::app
