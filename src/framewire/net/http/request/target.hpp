#pragma once

#include <map>
#include <string>
#include <string_view>

namespace framewire::net::http {

/// The target of a request (RFC 9112, 3.2): its path and its query, decoded.
struct Target {
    std::string path;
    std::map<std::string, std::string, std::less<>> query{};
};

/// Parses a request target. It decodes once and then checks: path segments must not be empty (except after one "/" at
/// the end), "." or "..", and must not contain "/" or "\". Everything must be UTF-8 without control characters, at most
/// 2048 bytes and 32 query names. Throws Refused with status 400.
Target parse_target(std::string_view text);

}  // namespace framewire::net::http
