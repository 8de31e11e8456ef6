#pragma once

#include <cstddef>
#include <string_view>

namespace framewire {

/// What stands for bytes that are no UTF-8.
inline constexpr char32_t replacement_character = 0xFFFD;

/// The character at the start of `bytes` (not empty), and how many bytes it takes. Broken bytes are one
/// replacement_character for as many of them as begin a character, at least one (Unicode 15, section 3.9, table 3-8).
struct Utf8Character {
    char32_t character;
    std::size_t bytes;
};
Utf8Character first_character(std::string_view bytes);

}  // namespace framewire
