#pragma once

#include "command_line/program_info.hpp"

#include <string>

namespace framewire::app {

// Documents that are installed with the program, generated from its command line and the registries.

/// The manual page framewire(1), in man(7) macros. Its date is today's, or that of SOURCE_DATE_EPOCH in the
/// environment.
std::string man_page(const ProgramInfo& program);

// Completion scripts: subcommands, options, their values where these are known words, and keys and choices inside
// filters and sources.
/// Completion script for bash.
std::string bash_completion(const ProgramInfo& program);
/// Completion script for zsh.
std::string zsh_completion(const ProgramInfo& program);
/// Completion script for fish.
std::string fish_completion(const ProgramInfo& program);

}  // namespace framewire::app
