#pragma once

#include "commands/commands.hpp"
#include "commands/json.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// A registry that a subcommand lists as text, as JSON, and as documentation pages.
struct Listing {
    std::string_view command;               ///< name of the subcommand: "filters"
    std::string_view description;           ///< description of the subcommand
    std::string_view one;                   ///< noun for one entry, for messages: "filter"
    std::string_view value;                 ///< placeholder of an entry name in the help: "FILTER"
    std::string_view page_help;             ///< help of --markdown
    std::vector<std::string_view> names{};  ///< entry names, in order
    // Functions that return the output for the entry with a given index.
    std::function<std::string(std::size_t)> words{};
    std::function<std::string(std::size_t)> page{};
    std::function<Json(std::size_t)> json{};
    std::function<std::string()> index{};  ///< returns the index page
};

/// Adds the subcommand, which shows all entries or a named one, with `--json` and `--markdown`. For an unknown name it
/// throws Error{usage} with a message that suggests the closest name.
void add_listing(CommandLine& program, Action& chosen, Listing listing);

}  // namespace framewire::app
