#pragma once

#include <cstddef>
#include <string_view>

namespace framewire {

/// The replacement for bytes that are not valid UTF-8.
inline constexpr char32_t replacement_character = 0xFFFD;

/// Result of decoding one character.
struct Utf8Character {
    char32_t code;      ///< replacement_character if the bytes are not valid
    std::size_t bytes;  ///< at least 1
    bool valid;
};

/// Decodes the character at the start of `text`, which must not be empty. Overlong forms, surrogates and code points
/// beyond U+10FFFF are invalid. Each maximal subpart of an invalid sequence gives one replacement_character (The
/// Unicode Standard 15, section 3.9, tables 3-7 and 3-8).
Utf8Character first_character(std::string_view text);

}  // namespace framewire
