#include "framewire/core/text/printable.hpp"

#include "framewire/core/text/utf8.hpp"

#include <fmt/format.h>

#include <iterator>

namespace framewire {
namespace {

// Unicode controls that change the direction of the text that follows (UAX #9).
bool is_bidirectional_control(char32_t code) {
    return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

// LINE SEPARATOR and PARAGRAPH SEPARATOR.
bool breaks_lines(char32_t code) { return code == 0x2028 || code == 0x2029; }

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    const auto out = std::back_inserter(shown);
    while (!text.empty()) {
        const auto [code, bytes, valid] = first_character(text);
        if (!valid || code < 0x20 || code == 0x7f)
            fmt::format_to(out, "\\x{:02x}", static_cast<unsigned char>(text.front()));
        else if (code < 0x80)
            shown += text.front();
        else if (code < 0xa0 || is_bidirectional_control(code) || breaks_lines(code))
            fmt::format_to(out, "\\u{{{:x}}}", static_cast<unsigned>(code));
        else
            shown += text.substr(0, bytes);
        text.remove_prefix(valid ? bytes : 1);
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
