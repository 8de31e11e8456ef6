#pragma once

#include <string>
#include <vector>

namespace framewire::app {

/// Declared option or positional argument, as the manual page and the shell completions use it.
struct OptionInfo {
    std::string short_name, long_name;  ///< "-i", "--input"; both empty: a positional argument
    std::string value;                  ///< placeholder of the value, "SRC"; empty: a flag
    int values = 1;                     ///< number of values that follow, as separate arguments
    bool repeatable = false;
    bool required = false;
    std::string default_value;
    std::string help;
    std::string heading;                ///< heading in the help; empty: the command's own options
    std::vector<std::string> needs;     ///< long names of the options that it requires
    std::vector<std::string> excludes;  ///< long names of the options that it rules out

    /// True for a positional argument.
    bool is_argument() const { return short_name.empty() && long_name.empty(); }
};

/// Command with its options.
struct CommandInfo {
    std::string name;  ///< name of a subcommand; empty or the program's name for its global options
    std::string description;
    std::vector<OptionInfo> options;  ///< in the order of the help
};

/// Everything that the command line accepts.
struct ProgramInfo {
    CommandInfo program;
    std::vector<CommandInfo> subcommands;
};

}  // namespace framewire::app
