#pragma once

#include <string>
#include <string_view>

namespace framewire::app {

/// A message as the program shows it to people: without_credentials(), then printable(). Every log line and every error
/// passes through here on its way out, so that no caller needs to think of it.
std::string shown_text(std::string_view text);

}  // namespace framewire::app
