#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace framewire::net {

/// `text` as valid UTF-8 of at most `max_bytes`, without control characters (C0, C1, DEL) and without what would break
/// its line, turn its direction or hide in it (U+2028, U+202E, ...); what is not is replaced by '?'.
std::string clean_text(std::string_view text, std::size_t max_bytes);

}  // namespace framewire::net
