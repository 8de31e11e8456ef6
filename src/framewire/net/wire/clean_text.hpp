#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace framewire::net {

/// Returns `text` as valid UTF-8 of at most `max_bytes` bytes. Invalid bytes, control characters (C0, C1, DEL) and
/// characters that break the line, change its direction or are invisible (U+2028, U+202E, ...) are replaced by '?'.
std::string clean_text(std::string_view text, std::size_t max_bytes);

}  // namespace framewire::net
