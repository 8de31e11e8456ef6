#include "framewire/net/http/request/target.hpp"

#include "framewire/core/text/printable.hpp"
#include "framewire/net/http/request/raw_request.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace framewire::net::http {

namespace {

// Longest target in bytes, and most names in a query.
constexpr std::size_t most_bytes = 2048, most_query_names = 32;

// Returns the value of a hexadecimal digit.
int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    throw Refused{400, "the path has a % without two hexadecimal digits"};
}

// Decodes percent-encoding (RFC 3986, 2.1).
std::string decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        if (i + 2 >= text.size()) throw Refused{400, "the path ends in the middle of a %"};
        plain += static_cast<char>(16 * digit_of(text[i + 1]) + digit_of(text[i + 2]));
        i += 2;
    }
    // printable() changes nothing in valid UTF-8 without control characters.
    if (printable(plain) != plain) throw Refused{400, "the path holds what is no UTF-8, or control characters"};
    return plain;
}

// Returns the decoded path. Segments are split before they are decoded, so "%2F" cannot separate them.
std::string path_of(std::string_view text) {
    if (!text.starts_with('/')) throw Refused{400, "the path does not begin with /"};
    std::string path;
    for (std::size_t begin = 1; begin <= text.size();) {
        const auto end = std::min(text.find('/', begin), text.size());
        const auto part = decoded(text.substr(begin, end - begin));
        if (part.empty() && end < text.size()) throw Refused{400, "the path has an empty part"};
        if (part == "." || part == ".." || part.find_first_of("/\\") != part.npos)
            throw Refused{400, "the path has a part that is not allowed"};
        path += "/" + part;
        begin = end + 1;
    }
    return path;
}

}  // namespace

Target parse_target(std::string_view text) {
    if (text.size() > most_bytes) throw Refused{400, fmt::format("the path is longer than {} bytes", most_bytes)};
    if (text.find('#') != text.npos) throw Refused{400, "the path has a #"};
    const auto question = std::min(text.find('?'), text.size());
    Target target{path_of(text.substr(0, question))};
    for (auto rest = text.substr(std::min(question + 1, text.size())); !rest.empty();) {
        const auto end = std::min(rest.find('&'), rest.size());
        const auto pair = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (pair.empty()) continue;
        const auto equals = std::min(pair.find('='), pair.size());
        target.query.emplace(decoded(pair.substr(0, equals)), decoded(pair.substr(std::min(equals + 1, pair.size()))));
        if (target.query.size() > most_query_names) throw Refused{400, "the query has too many names"};
    }
    return target;
}

}  // namespace framewire::net::http
