#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace framewire {

/// `text` in quotes for a message: control characters shown as '?', cut after 40 characters.
std::string in_quotes(std::string_view text);

/// The number of the character at byte `offset` of a UTF-8 text, from 1.
std::size_t column(std::string_view text, std::size_t offset);

/// Two lines for the end of a message: the part of `text` around byte `offset`, and under that byte a caret. Each
/// begins with a line break.
std::string pointed_out(std::string_view text, std::size_t offset);

}  // namespace framewire
