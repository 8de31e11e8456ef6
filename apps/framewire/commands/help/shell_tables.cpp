// Parameter tables of filters and sources, written in the common subset of bash and zsh.

#include "commands/help/shell_tables.hpp"
#include "commands/help/value_words.hpp"

#include "framewire/core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <vector>

namespace framewire::app {
namespace {

// Appends the cases of a shell `case` for the keys and choices of filters or sources.
void add_cases(std::string_view kind, const std::vector<CallWords>& calls, std::string& keys, std::string& choices) {
    for (const auto& call : calls) {
        std::vector<std::string_view> names;
        for (const auto& key : call.keys) {
            names.push_back(key.name);
            if (!key.choices.empty())
                fmt::format_to(std::back_inserter(choices), "        '{} {} {}') choices='{}' ;;\n", kind, call.name,
                               key.name, fmt::join(key.choices, " "));
        }
        fmt::format_to(std::back_inserter(keys), "        '{} {}') keys='{}' ;;\n", kind, call.name,
                       fmt::join(names, " "));
    }
}

}  // namespace

std::string shell_tables() {
    std::string keys, choices;
    add_cases("filter", filter_words(), keys, choices);
    add_cases("source", source_words(), keys, choices);
    return fmt::format(
        "_framewire_keys() {{\n    keys=\n    case $1 in\n{}    esac\n}}\n"
        "_framewire_choices() {{\n    choices=\n    case $1 in\n{}    esac\n}}\n",
        keys, choices);
}

}  // namespace framewire::app
