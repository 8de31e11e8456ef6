#pragma once

#include <map>
#include <string>
#include <string_view>

namespace framewire::net::http {

/// What a request asks for: its path, and what stands after '?'.
struct Target {
    std::string path;
    std::map<std::string, std::string, std::less<>> query{};
};

/// Decodes once, then checks: parts of the path are not empty (but for one "/" at the end), "." or "..", and hold no
/// "/" or "\". All is UTF-8 without control characters. Throws Refused.
Target parse_target(std::string_view text);

}  // namespace framewire::net::http
