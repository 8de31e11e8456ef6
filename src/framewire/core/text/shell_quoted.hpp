#pragma once

#include <string>
#include <string_view>

namespace framewire {

/// `text` as one word of a shell, in single quotes.
std::string shell_quoted(std::string_view text);

/// The same, as it is where no shell takes it for anything else.
std::string shell_word(std::string_view text);

}  // namespace framewire
