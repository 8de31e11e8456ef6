#pragma once

#include <cstddef>
#include <string_view>

namespace framewire {

/// The replacement for bytes that are not valid UTF-8.
inline constexpr char32_t replacement_character = 0xFFFD;

/// Result of decoding one character.
struct Utf8Character {
    char32_t code;      ///< replacement_character if the bytes are not valid
    std::size_t bytes;  ///< length of the character's bytes, at least 1
    bool valid;
};

/// Decodes the character at the start of `text`, which must not be empty. Overlong forms, surrogates and code points
/// beyond U+10FFFF are invalid. Each maximal subpart of an invalid sequence gives one replacement_character (The
/// Unicode Standard 15, section 3.9, tables 3-7 and 3-8).
inline Utf8Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                               : lead >= 0xE0 && lead <= 0xEF ? 3
                               : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                              : 0;
    if (length == 0) return {replacement_character, 1, false};
    // The range of the second byte excludes overlong forms, surrogates and code points beyond U+10FFFF.
    unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    char32_t code = lead & (0x7Fu >> length);
    for (std::size_t index = 1; index < length; ++index) {
        if (index == text.size() || byte(index) < lowest || byte(index) > highest)
            return {replacement_character, index, false};
        code = code << 6 | (byte(index) & 0x3Fu);
        lowest = 0x80;
        highest = 0xBF;
    }
    return {code, length, true};
}

}  // namespace framewire
