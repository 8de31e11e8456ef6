#include "framewire/core/text/excerpt.hpp"

#include "framewire/core/text/credentials.hpp"
#include "framewire/core/text/printable.hpp"

#include <algorithm>

namespace framewire {
namespace {

constexpr std::size_t longest_quote = 40;
// Bytes; together with dots and indent the line stays below 80 columns.
constexpr std::size_t shown_before = 50, shown_after = 25;

// Returns true for the second and later bytes of a UTF-8 character.
bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Returns the end of the character that contains the byte before `offset`.
std::size_t next_boundary(std::string_view text, std::size_t offset) {
    while (offset < text.size() && continues_character(text[offset])) ++offset;
    return std::min(offset, text.size());
}

}  // namespace

std::string in_quotes(std::string_view whole) {
    // Before the cut, which could remove the '@' that marks a password.
    const auto text = address_without_credentials(whole);
    if (text.size() <= longest_quote) return "'" + printable(text) + "'";
    return "'" + printable(text.substr(0, next_boundary(text, longest_quote))) + "...'";
}

std::size_t column(std::string_view text, std::size_t offset) {
    const auto before = text.substr(0, offset);
    return 1 + static_cast<std::size_t>(
                   std::count_if(before.begin(), before.end(), [](char c) { return !continues_character(c); }));
}

// The printable text can be longer than the original, so the caret is placed by the printed part before it.
std::string pointed_out(std::string_view text, std::size_t offset) {
    offset = std::min(offset, text.size());
    // Cuts are moved to the start of a character.
    const auto begin = std::min(next_boundary(text, offset > shown_before ? offset - shown_before : 0), offset);
    const auto end = next_boundary(text, std::min(offset + shown_after, text.size()));
    const std::string_view dots_before = begin > 0 ? "..." : "", dots_after = end < text.size() ? "..." : "";
    std::string lines = "\n  ";
    lines += dots_before;
    const auto before = printable(text.substr(begin, offset - begin));
    lines += before;
    lines += printable(text.substr(offset, end - offset));
    lines += dots_after;
    lines += "\n  ";
    lines.append(dots_before.size() + column(before, before.size()) - 1, ' ');
    lines += '^';
    return lines;
}

}  // namespace framewire
