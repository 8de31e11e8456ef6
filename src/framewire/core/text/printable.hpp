#pragma once

#include <string>
#include <string_view>

namespace framewire {

/// `text` as it may go to a terminal, a log or a window's title, on one line. Names of files, cameras and streams hold
/// what others put there: escape sequences, line breaks that forge a line, marks that turn the direction of writing.
/// Control characters and bytes that are no UTF-8 become `\x1b`; U+0080 to U+009F, the bidirectional controls (U+061C,
/// U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) and U+2028 and U+2029, which break lines, become `\u{202e}`. All
/// else stays as it is, the backslash too.
std::string printable(std::string_view text);

/// The same of every line of a text whose line breaks are its own.
std::string printable_lines(std::string_view text);

}  // namespace framewire
