#pragma once

#include "command_line/program_info.hpp"

#include <string>

namespace framewire::app {

/// Two functions that bash and zsh both understand. `_framewire_keys CALL` sets `keys` to the names of a filter's
/// ("filter gray") or a source's ("source synth") parameters; `_framewire_choices "CALL KEY"` sets `choices` to what
/// may be one's value. Both are words with blanks between.
std::string shell_tables();

}  // namespace framewire::app
