#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class formatter;
}

namespace framewire::app {

/// A message as the program shows it to people: without_credentials(), then printable(). Every log line and every error
/// passes through here on its way out, so that no caller needs to think of it.
std::string shown_text(std::string_view text);

/// Formats log lines by spdlog's `pattern`, in which `%v` is the message as shown_text() has it.
std::unique_ptr<spdlog::formatter> shown_text_formatter(const std::string& pattern);

}  // namespace framewire::app
