#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net::http {

/// A request as it was said, whole and well-formed; nothing in it was looked at.
struct RawRequest {
    std::string method, target;
    bool version_1_1 = true;                                    ///< else 1.0
    std::vector<std::pair<std::string, std::string>> fields{};  ///< names in lower case, in their order
    std::string body{};

    /// The value of the only field of a name in lower case; none also where there are several.
    std::optional<std::string_view> field(std::string_view name) const;
    std::size_t count(std::string_view name) const;
    /// Whether a list of tokens, such as Connection's, holds one, whatever its case.
    bool lists(std::string_view name, std::string_view token) const;
};

/// Why a request is not answered as it asks; for one exception type that goes no further than this folder's users.
struct Refused {
    int status = 400;
    std::string text{};
};

}  // namespace framewire::net::http
