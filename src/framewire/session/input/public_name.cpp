#include "framewire/session/input/public_name.hpp"

#include "framewire/core/text/credentials.hpp"

#include <algorithm>
#include <string_view>

namespace framewire::session {

std::string public_name(const std::string& source) {
    constexpr std::string_view hidden_user = "***@";
    auto name = address_without_credentials(source);
    const auto scheme = name.find("://");
    if (scheme == std::string::npos) return name.substr(name.find_last_of('/') + 1);
    name.erase(std::min(name.find('?'), name.size()));
    const auto host = scheme + 3;
    if (name.compare(host, hidden_user.size(), hidden_user) == 0) name.erase(host, hidden_user.size());
    return name;
}

}  // namespace framewire::session
