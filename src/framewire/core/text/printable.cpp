#include "framewire/core/text/printable.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace framewire {
namespace {

struct Character {
    char32_t code = 0;
    std::size_t bytes = 0;  // 0 where the text does not begin with a character of UTF-8
};

// The first character, by table 3-7 of the Unicode Standard: no overlong forms, no surrogates, none past U+10FFFF.
Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const auto first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || bytes > text.size()) return {};
    char32_t code = first & (0x7fu >> bytes);
    for (std::size_t at = 1; at < bytes; ++at) {
        if ((byte(at) & 0xc0) != 0x80) return {};
        code = code << 6 | (byte(at) & 0x3fu);
    }
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
    return {code, bytes};
}

bool is_bidirectional_control(char32_t code) {
    return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

bool breaks_lines(char32_t code) { return code == 0x2028 || code == 0x2029; }

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    const auto out = std::back_inserter(shown);
    while (!text.empty()) {
        const auto [code, bytes] = first_character(text);
        if (bytes == 0 || code < 0x20 || code == 0x7f)
            fmt::format_to(out, "\\x{:02x}", static_cast<unsigned char>(text.front()));
        else if (code < 0x80)
            shown += text.front();
        else if (code < 0xa0 || is_bidirectional_control(code) || breaks_lines(code))
            fmt::format_to(out, "\\u{{{:x}}}", static_cast<unsigned>(code));
        else
            shown += text.substr(0, bytes);
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return shown;
}

std::string printable_lines(std::string_view text) {
    std::string shown;
    for (;;) {
        const auto end = text.find('\n');
        shown += printable(text.substr(0, end));
        if (end == std::string_view::npos) return shown;
        shown += '\n';
        text.remove_prefix(end + 1);
    }
}

}  // namespace framewire
