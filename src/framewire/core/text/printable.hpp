#pragma once

#include <string>
#include <string_view>

namespace framewire {

/// Returns `text` in a form that is safe to print on one line of a terminal, a log or a window title. Names of files,
/// cameras and streams come from others and can contain escape sequences, line breaks that forge a line, or
/// bidirectional controls. Control characters and bytes that are not valid UTF-8 become escapes such as `\x1b`; U+0080
/// to U+009F, the bidirectional controls (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) and the line
/// separators U+2028 and U+2029 become `\u{202e}`. Everything else stays, including the backslash.
std::string printable(std::string_view text);

/// Like printable(), for each line of a text whose line breaks are genuine.
std::string printable_lines(std::string_view text);

}  // namespace framewire
