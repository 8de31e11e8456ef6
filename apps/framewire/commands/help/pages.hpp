#pragma once

#include "command_line/program_info.hpp"

#include <string>

namespace framewire::app {

// Documents that are installed with the program, generated from its command line and the registries.

/// Returns the manual page framewire(1) in man(7) macros. Its date is the current one, or that of the environment
/// variable SOURCE_DATE_EPOCH.
std::string man_page(const ProgramInfo& program);

// Completion scripts complete subcommands, options, option values that are known words, and keys and choices inside
// filters and sources.
/// Returns the completion script for bash.
std::string bash_completion(const ProgramInfo& program);
/// Returns the completion script for zsh.
std::string zsh_completion(const ProgramInfo& program);
/// Returns the completion script for fish.
std::string fish_completion(const ProgramInfo& program);

}  // namespace framewire::app
