#include "framewire/core/text/shell_quoted.hpp"

#include <algorithm>

namespace framewire {

// A single quote inside single quotes is written as '\'': end the quotes, an escaped quote, new quotes.
std::string shell_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char letter : text)
        if (letter == '\'')
            quoted += "'\\''";
        else
            quoted += letter;
    return quoted + "'";
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    const bool is_plain = !text.empty() && text.find_first_not_of(plain) == std::string_view::npos;
    return is_plain ? std::string(text) : shell_quoted(text);
}

}  // namespace framewire
