#pragma once

#include <string>
#include <vector>

namespace framewire::app {

/// An option, or an argument without a name, as it was declared: what the manual page and completions are made of.
struct OptionInfo {
    std::string short_name, long_name;  ///< "-i", "--input"; both empty: an argument, told by its place
    std::string value;                  ///< what stands for its value, "SRC"; empty: a flag
    int values = 1;                     ///< that follow it, separate arguments each
    bool repeatable = false;
    bool required = false;
    std::string default_value;
    std::string help;
    std::string heading;                ///< under which the help has it; empty: the command's own
    std::vector<std::string> needs;     ///< is refused without these,
    std::vector<std::string> excludes;  ///< and beside these; by their long names

    bool is_argument() const { return short_name.empty() && long_name.empty(); }
};

struct CommandInfo {
    std::string name;  ///< of a subcommand; of the program itself for its own options
    std::string description;
    std::vector<OptionInfo> options;  ///< in the order of the help
};

/// What the command line may hold.
struct ProgramInfo {
    CommandInfo program;
    std::vector<CommandInfo> subcommands;
};

}  // namespace framewire::app
