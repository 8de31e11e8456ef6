#pragma once

#include <string>
#include <string_view>

namespace framewire {

/// Returns `text` as one word of a POSIX shell, in single quotes.
std::string shell_quoted(std::string_view text);

/// Returns `text` unquoted if every character is safe in a shell, else as shell_quoted() does.
std::string shell_word(std::string_view text);

}  // namespace framewire
