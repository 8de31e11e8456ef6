#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace framewire {

/// `text` with A to Z in lower case, for file extensions and similar names.
inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (auto& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return lower;
}

}  // namespace framewire
