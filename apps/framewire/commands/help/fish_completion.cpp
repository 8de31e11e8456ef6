// Completion script for fish: one `complete` line per option, and functions for filter chains and sources.

#include "commands/help/pages.hpp"
#include "commands/help/value_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string_view>
#include <vector>

namespace framewire::app {
namespace {

constexpr std::string_view fish_begin =
    R"(# fish completion for framewire, written by 'framewire help --completion fish'.

)";

constexpr std::string_view fish_middle = R"(
# Keys and choices of the call $argv[1] ("filter gray"), whose text is $argv[2] up to its parameters, which are $argv[3].
function __framewire_parameters
    set -l call $argv[1]
    set -l head $argv[2](string match -r '^.*:' -- $argv[3] | string collect --allow-empty)
    set -l rest (string replace -r '^.*:' '' -- $argv[3])
    if string match -q '*=*' -- $rest
        set -l key (string replace -r '=.*' '' -- $rest)
        for choice in (__framewire_choices "$call $key")
            echo "$head$key=$choice"
        end
        return
    end
    set -l keys (__framewire_keys $call)
    for key in $keys
        echo "$head$key="
    end
    if string match -q 'filter*' -- $call; and test "$head" = "$argv[2]"; and set -q keys[1]
        for choice in (__framewire_choices "$call $keys[1]")
            echo "$head$choice"
        end
    end
end

# The value under the cursor, without an option's name before it.
function __framewire_value
    string replace -r -- '^--[a-z-]*=' '' (commandline -ct | string collect --allow-empty)
end

function __framewire_chain
    set -l value (__framewire_value)
    set -l head (string match -r '^.*,' -- $value | string collect --allow-empty)
    set -l item (string replace -r '^.*,' '' -- $value)
    if string match -q '*=*' -- $item
        set -l name (string replace -r '=.*' '' -- $item)
        __framewire_parameters "filter $name" "$head$name=" (string replace -r '^[^=]*=' '' -- $item)
        return
    end
    for name in $__framewire_filters
        echo "$head$name"
    end
end

function __framewire_source
    set -l value (__framewire_value)
    set -l name (string replace -r ':.*' '' -- $value)
    if string match -q '*:*' -- $value
        __framewire_parameters "source $name" "$name:" (string replace -r '^[^:]*:' '' -- $value)
        return
    end
    for name in $__framewire_sources
        echo "$name"
    end
end

complete -c framewire -f
)";

// Quotes a text as a single fish word.
std::string fish_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char letter : text) {
        if (letter == '\'' || letter == '\\') quoted += '\\';
        quoted += letter;
    }
    return quoted + "'";
}

// Appends the cases of a `switch` for the keys and choices of filters or sources.
void add_fish_cases(std::string_view kind, const std::vector<CallWords>& calls, std::string& keys,
                    std::string& choices) {
    for (const auto& call : calls) {
        if (call.keys.empty()) continue;
        std::vector<std::string_view> names;
        for (const auto& key : call.keys) {
            names.push_back(key.name);
            if (!key.choices.empty())
                fmt::format_to(std::back_inserter(choices),
                               "        case '{} {} {}'\n            string split ' ' '{}'\n", kind, call.name,
                               key.name, fmt::join(key.choices, " "));
        }
        fmt::format_to(std::back_inserter(keys), "        case '{} {}'\n            string split ' ' '{}'\n", kind,
                       call.name, fmt::join(names, " "));
    }
}

// Returns the functions __framewire_keys and __framewire_choices.
std::string fish_tables() {
    std::string keys, choices;
    add_fish_cases("filter", filter_words(), keys, choices);
    add_fish_cases("source", source_words(), keys, choices);
    return fmt::format(
        "function __framewire_keys\n    switch $argv[1]\n{}    end\nend\n"
        "function __framewire_choices\n    switch $argv[1]\n{}    end\nend\n",
        keys, choices);
}

// Returns the part of a `complete` line that describes an option's values.
std::string fish_values(const std::string& value, const ProgramInfo& program) {
    const auto takes = value_words(value, program);
    std::string text;
    using Kind = ValueWords::Kind;
    if (takes.kind == Kind::files || takes.kind == Kind::source) text += " -F";
    if (takes.kind == Kind::source) text += " -a '(__framewire_source)'";
    if (takes.kind == Kind::filters) text += " -a '(__framewire_chain)'";
    if (takes.kind == Kind::folders) text += " -a '(__fish_complete_directories)'";
    if (!takes.words.empty()) text += " -a " + fish_quoted(fmt::format("{}", fmt::join(takes.words, " ")));
    return text;
}

// Returns the `complete` line of an option. -F allows files, -x forbids them.
std::string fish_line(const OptionInfo& option, const std::string& condition, const ProgramInfo& program) {
    auto line = fmt::format("complete -c framewire -n {}", fish_quoted(condition));
    auto out = std::back_inserter(line);
    if (!option.short_name.empty()) fmt::format_to(out, " -s {}", option.short_name.substr(1));
    if (!option.long_name.empty()) fmt::format_to(out, " -l {}", option.long_name.substr(2));
    if (!option.value.empty()) {
        const auto values = fish_values(option.value, program);
        line += option.is_argument() ? values : (values.starts_with(" -F") ? " -r" : " -x") + values;
    }
    if (!option.is_argument()) fmt::format_to(out, " -d {}", fish_quoted(option.help));
    return line + "\n";
}

}  // namespace

// Parts of the script, in order: variables and functions, then the `complete` lines that use them.
std::string fish_completion(const ProgramInfo& program) {
    std::string script(fish_begin);
    auto out = std::back_inserter(script);
    std::vector<std::string> filters, sources;
    for (const auto& filter : filter_words()) filters.push_back(filter.name);
    for (const auto& source : source_words()) sources.push_back(source.name + ":");
    fmt::format_to(out, "set -g __framewire_filters {}\nset -g __framewire_sources {}\n{}{}", fmt::join(filters, " "),
                   fmt::join(sources, " "), fish_tables(), fish_middle);
    for (const auto& option : program.program.options) script += fish_line(option, "__fish_use_subcommand", program);
    for (const auto& command : program.subcommands) {
        fmt::format_to(out, "complete -c framewire -n __fish_use_subcommand -a {} -d {}\n", command.name,
                       fish_quoted(command.description));
        for (const auto& option : command.options)
            script += fish_line(option, "__fish_seen_subcommand_from " + command.name, program);
    }
    return script;
}

}  // namespace framewire::app
