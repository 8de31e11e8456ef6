#pragma once

#include <cstddef>
#include <string_view>

namespace framewire {

/// Stands for bytes that are not valid UTF-8.
inline constexpr char32_t replacement_character = 0xFFFD;

struct Utf8Character {
    char32_t code;      ///< replacement_character if the bytes are not valid
    std::size_t bytes;  ///< at least 1
    bool valid;
};

/// Decodes the character at the start of `text`, which is not empty. Overlong forms, surrogates and code points beyond
/// U+10FFFF are not valid. Invalid bytes are one replacement_character per maximal subpart (The Unicode Standard 15,
/// section 3.9, tables 3-7 and 3-8).
Utf8Character first_character(std::string_view text);

}  // namespace framewire
