#include "command_line/hidden_passwords.hpp"

#include "framewire/core/text.hpp"

#include <algorithm>

namespace framewire::app {

void hide_passwords(int count, char** arguments) {
    for (int at = 1; at < count; ++at)
        for (const auto& secret : credentials_in_address(arguments[at]))
            std::fill(arguments[at] + secret.begin, arguments[at] + secret.end, '*');
}

}  // namespace framewire::app
