#pragma once

#include "command_line/program_info.hpp"

#include <string>

namespace framewire::app {

/// Returns two shell functions in the common subset of bash and zsh. `_framewire_keys CALL` sets `keys` to the
/// parameter names of a filter ("filter gray") or a source ("source synth"). `_framewire_choices "CALL KEY"` sets
/// `choices` to the values of a parameter. Both results are words separated by spaces.
std::string shell_tables();

}  // namespace framewire::app
