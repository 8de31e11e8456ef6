#include "framewire/net/wire/clean_text.hpp"

#include "framewire/core/text/utf8.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace framewire::net {
namespace {

// Returns true for characters that terminals or text layout interpret instead of showing them. The joiners U+200C and
// U+200D are excluded, because scripts need them.
bool acts_on_text(char32_t code) {
    constexpr std::pair<char32_t, char32_t> ranges[] = {
        {0x00, 0x1f},        // C0
        {0x7f, 0x9f},        // DEL, C1
        {0xad, 0xad},        // soft hyphen
        {0x61c, 0x61c},      // Arabic letter mark
        {0x180e, 0x180e},    // vowel separator of zero width
        {0x200b, 0x200b},    // zero-width space
        {0x200e, 0x200f},    // directional marks
        {0x2028, 0x202e},    // line and paragraph separators, directional embeddings and overrides
        {0x2060, 0x206f},    // invisible operators, directional isolates, deprecated controls
        {0xfeff, 0xfeff},    // byte order mark
        {0xfff9, 0xfffb},    // interlinear annotations
        {0xe0000, 0xe007f},  // tags
    };
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [code](const auto& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

// Replaces one byte at a time if the text is invalid, so it resynchronises at the next character.
std::string clean_text(std::string_view text, std::size_t max_bytes) {
    std::string clean;
    while (!text.empty()) {
        const auto [code, bytes, valid] = first_character(text);
        const auto piece = valid && !acts_on_text(code) ? text.substr(0, bytes) : std::string_view("?");
        if (clean.size() + piece.size() > max_bytes) break;
        clean += piece;
        text.remove_prefix(valid ? bytes : 1);
    }
    return clean;
}

}  // namespace framewire::net
