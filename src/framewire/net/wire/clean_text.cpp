#include "framewire/net/wire/clean_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

namespace framewire::net {

namespace {

// Bytes of the UTF-8 character at the front of `text`, 0 when there is no valid one (RFC 3629).
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
    };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
    const auto first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf && follows(1)) return 2;
    if (first >= 0xe0 && first <= 0xef && follows(1) && follows(2)) {
        const bool overlong = first == 0xe0 && byte(1) < 0xa0;
        const bool surrogate = first == 0xed && byte(1) > 0x9f;
        return overlong || surrogate ? 0 : 3;
    }
    if (first >= 0xf0 && first <= 0xf4 && follows(1) && follows(2) && follows(3)) {
        const bool overlong = first == 0xf0 && byte(1) < 0x90;
        const bool beyond_unicode = first == 0xf4 && byte(1) > 0x8f;
        return overlong || beyond_unicode ? 0 : 4;
    }
    return 0;
}

// Of the valid character in `bytes`.
char32_t code_point(std::string_view bytes) {
    constexpr std::array<unsigned, 5> front_bits{0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t code = static_cast<std::uint8_t>(bytes[0]) & front_bits[bytes.size()];
    for (const char next : bytes.substr(1)) code = code << 6 | (static_cast<std::uint8_t>(next) & 0x3f);
    return code;
}

// What a terminal or a line of text would act upon instead of showing it. Joiners (U+200C, U+200D) are letters' affair.
bool acts_on_text(char32_t code) {
    constexpr std::pair<char32_t, char32_t> ranges[] = {
        {0x00, 0x1f},        // C0
        {0x7f, 0x9f},        // DEL, C1
        {0xad, 0xad},        // soft hyphen
        {0x61c, 0x61c},      // Arabic letter mark
        {0x180e, 0x180e},    // vowel separator without a width
        {0x200b, 0x200b},    // space without a width
        {0x200e, 0x200f},    // marks of direction
        {0x2028, 0x202e},    // ends of line and paragraph, embedded and overridden directions
        {0x2060, 0x206f},    // invisible operators, isolated directions, deprecated controls
        {0xfeff, 0xfeff},    // byte order mark
        {0xfff9, 0xfffb},    // annotations
        {0xe0000, 0xe007f},  // tags
    };
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [code](const auto& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t max_bytes) {
    std::string clean;
    while (!text.empty()) {
        const auto bytes = character_bytes(text);
        const bool good = bytes > 0 && !acts_on_text(code_point(text.substr(0, bytes)));
        const auto piece = good ? text.substr(0, bytes) : std::string_view("?");
        if (clean.size() + piece.size() > max_bytes) break;
        clean += piece;
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return clean;
}

}  // namespace framewire::net
