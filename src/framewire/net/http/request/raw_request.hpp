#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net::http {

/// A complete, well-formed request exactly as it was sent. Its content has not been checked.
struct RawRequest {
    std::string method, target;
    /// False: HTTP/1.0.
    bool version_1_1 = true;
    /// Names in lower case, in the order in which they were sent.
    std::vector<std::pair<std::string, std::string>> fields{};
    std::string body{};

    /// Returns the value of a field by its lower-case name, or nullopt if the field is missing or occurs more than
    /// once.
    std::optional<std::string_view> field(std::string_view name) const;
    /// Returns how many fields have this lower-case name.
    std::size_t count(std::string_view name) const;
    /// Returns true if a field that is a list of tokens, such as Connection, contains `token`, ignoring case.
    bool lists(std::string_view name, std::string_view token) const;
};

/// Thrown to refuse a request: the status and text of the response. Only code that handles HTTP connections catches it.
struct Refused {
    int status = 400;
    std::string text{};
};

}  // namespace framewire::net::http
