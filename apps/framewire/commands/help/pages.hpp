#pragma once

#include "command_line/program_info.hpp"

#include <string>

namespace framewire::app {

// What is installed beside the program, made of what its command line may hold and of the registries.

/// framewire(1), in the macros of man(7). Its date is today's, or that of SOURCE_DATE_EPOCH in the environment.
std::string man_page(const ProgramInfo& program);

// Scripts that complete the program's command line in a shell: subcommands, options, and as far as there are such words
// their values; keys and choices of filters and sources within them.
std::string bash_completion(const ProgramInfo& program);
std::string zsh_completion(const ProgramInfo& program);
std::string fish_completion(const ProgramInfo& program);

}  // namespace framewire::app
