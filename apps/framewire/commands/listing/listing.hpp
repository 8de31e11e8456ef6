#pragma once

#include "commands/commands.hpp"
#include "commands/json.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// A registry as a subcommand shows it: in words, as JSON, and as the pages of the docs.
struct Listing {
    std::string_view command;               ///< "filters"
    std::string_view description;           ///< of the subcommand
    std::string_view one;                   ///< "filter", for messages
    std::string_view value;                 ///< "FILTER", what stands for a name in the help
    std::string_view page_help;             ///< of --markdown
    std::vector<std::string_view> names{};  ///< of the entries, in their order
    // Of the entry with a number.
    std::function<std::string(std::size_t)> words{};
    std::function<std::string(std::size_t)> page{};
    std::function<Json(std::size_t)> json{};
    std::function<std::string()> index{};  ///< the page of all
};

/// Adds the subcommand: all entries, or the one that is named; `--json` and `--markdown`. An unknown name is
/// Error{usage} with the nearest one.
void add_listing(CommandLine& program, Action& chosen, Listing listing);

}  // namespace framewire::app
