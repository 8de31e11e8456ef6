#pragma once

#include <string>
#include <vector>

namespace framewire::app {

/// A declared option or positional argument, as used by the manual page and the shell completions.
struct OptionInfo {
    std::string short_name, long_name;  ///< "-i", "--input"; both empty for a positional argument
    std::string value;                  ///< placeholder of the value, "SRC"; empty for a flag
    int values = 1;                     ///< number of values, which follow as separate arguments
    bool repeatable = false;
    bool required = false;
    std::string default_value;
    std::string help;
    std::string heading;                ///< heading in the help; empty if the option belongs to no group
    std::vector<std::string> needs;     ///< long names of the options that this one requires
    std::vector<std::string> excludes;  ///< long names of the options that cannot be combined with this one

    /// Returns true for a positional argument.
    bool is_argument() const { return short_name.empty() && long_name.empty(); }
};

/// A command with its options.
struct CommandInfo {
    std::string name;  ///< name of the subcommand; empty or the program's name for the global options
    std::string description;
    std::vector<OptionInfo> options;  ///< options in the order of the help
};

/// Everything that the command line accepts.
struct ProgramInfo {
    CommandInfo program;
    std::vector<CommandInfo> subcommands;
};

}  // namespace framewire::app
