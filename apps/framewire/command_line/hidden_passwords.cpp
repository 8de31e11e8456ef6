#include "command_line/hidden_passwords.hpp"

#include <algorithm>
#include <string_view>

namespace framewire::app {
namespace {

constexpr std::string_view scheme_end = "://";

// As a URL has it, or somebody who forgot that / and @ are written otherwise in a password.
void hide_password(char* argument) {
    const std::string_view text(argument);
    const auto scheme = text.find(scheme_end);
    if (scheme == text.npos) return;
    const auto begin = scheme + scheme_end.size();
    const auto at = text.rfind('@');
    if (at == text.npos || at < begin) return;
    const auto colon = text.find(':', begin);
    if (colon >= at) return;
    std::fill(argument + colon + 1, argument + at, '*');
}

}  // namespace

void hide_passwords(int count, char** arguments) {
    for (int at = 1; at < count; ++at) hide_password(arguments[at]);
}

}  // namespace framewire::app
