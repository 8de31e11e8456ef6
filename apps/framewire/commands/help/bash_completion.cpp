// Completion script for bash: fixed functions, and tables generated from the command line and the registries. The
// script splits the command line itself (_framewire_split), because bash also splits words at '=' and ':'.

#include "commands/help/pages.hpp"
#include "commands/help/shell_tables.hpp"
#include "commands/help/value_words.hpp"

#include "framewire/core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string_view>
#include <vector>

namespace framewire::app {
namespace {

constexpr std::string_view bash_begin =
    R"(# bash completion for framewire, written by 'framewire help --completion bash'.

)";

constexpr std::string_view bash_end = R"(
# The line's words up to the cursor, without quotes, in `line_words`; the last one is to be completed.
_framewire_split() {
    local line=${COMP_LINE:0:COMP_POINT} letter quote= word= begun=
    local -i at
    line_words=()
    for ((at = 0; at < ${#line}; ++at)); do
        letter=${line:at:1}
        if [[ $letter == \\ && $quote != \' ]]; then
            ((++at))
            word+=${line:at:1} begun=1
        elif [[ $quote ]]; then
            if [[ $letter == "$quote" ]]; then quote=; else word+=$letter; fi
        elif [[ $letter == \" || $letter == \' ]]; then
            quote=$letter begun=1
        elif [[ $letter == [[:blank:]] ]]; then
            [[ $begun ]] && line_words+=("$word")
            word= begun=
        else
            word+=$letter begun=1
        fi
    done
    line_words+=("$word")
}

# Offers the words $2 ... behind $1 where they go on with what is there.
_framewire_offer() {
    local head=$1 word
    shift
    for word; do
        [[ $head$word == "$current"* ]] && COMPREPLY+=("$given$head$word")
    done
}

# Offers keys and choices of the call $1 ("filter gray"), whose text is $2 up to its parameters, which are $3.
_framewire_offer_parameters() {
    local call=$1 head=$2 rest=$3 first=1 keys choices
    _framewire_keys "$call"
    [[ $rest == *:* ]] && head+=${rest%:*}: rest=${rest##*:} first=
    if [[ $rest == *=* ]]; then
        _framewire_choices "$call ${rest%%=*}"
        _framewire_offer "$head${rest%%=*}=" $choices
        return
    fi
    [[ $keys ]] || return
    local -a names=($keys)
    _framewire_offer "$head" "${names[@]/%/=}"
    [[ $first && $call == filter* ]] && _framewire_choices "$call ${names[0]}" && _framewire_offer "$head" $choices
}

_framewire_offer_filters() {
    local head= item=$current
    [[ $item == *,* ]] && head=${item%,*}, item=${item##*,}
    if [[ $item == *=* ]]; then
        _framewire_offer_parameters "filter ${item%%=*}" "$head${item%%=*}=" "${item#*=}"
    else
        _framewire_offer "$head" $_framewire_filters
    fi
    compopt -o nospace 2>/dev/null
}

# Files, with $1=-d only folders.
_framewire_offer_files() {
    local file
    while IFS= read -r file; do COMPREPLY+=("$given$file"); done < <(compgen "${1:--f}" -- "$current")
    compopt -o filenames 2>/dev/null
}

_framewire_offer_source() {
    local keys
    _framewire_keys "source ${current%%:*}"
    if [[ $current == *:* && $keys ]]; then
        _framewire_offer_parameters "source ${current%%:*}" "${current%%:*}:" "${current#*:}"
        compopt -o nospace 2>/dev/null
        return
    fi
    _framewire_offer_files
    _framewire_offer '' $_framewire_sources
    [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *: ]] && compopt -o nospace 2>/dev/null
}

_framewire() {
    local -a line_words
    local current command= given= kind= words= values=0 options raw full word
    local -i at last
    COMPREPLY=()
    _framewire_split
    last=${#line_words[@]}-1
    current=${line_words[last]}
    for word in "${line_words[@]:1:last-1}"; do
        [[ $word != -* ]] && command=$word && break
    done
    if [[ $current == --*=* ]]; then
        given=${current%%=*}= current=${current#*=}
        _framewire_takes "$command ${given%=}"
    else
        for at in 1 2; do # the one before it, or the one before that, which takes two
            ((last > at)) && _framewire_takes "$command ${line_words[last - at]}"
            ((values >= at)) && break
            values=0
        done
    fi
    if ((values == 0)) && [[ $current == -* ]]; then
        _framewire_options "$command"
        _framewire_offer '' $options
    elif ((values == 0)) && [[ ! $command ]]; then
        _framewire_offer '' $_framewire_subcommands
    else
        ((values)) || _framewire_takes "$command"
        case $kind in
            files) _framewire_offer_files ;;
            folders) _framewire_offer_files -d ;;
            filters) _framewire_offer_filters ;;
            source) _framewire_offer_source ;;
        esac
        _framewire_offer '' $words
    fi
    # bash replaces what is behind the last of its breaks of words, = and : among them.
    raw=${COMP_WORDS[COMP_CWORD]} raw=${raw#[\"\']} full=$given$current
    [[ $raw == [=:] ]] && raw=
    if [[ $full == *"$raw" ]]; then full=${full%"$raw"}; else full=${full%"${full##*[=:]}"}; fi
    COMPREPLY=("${COMPREPLY[@]#"$full"}")
}

complete -F _framewire framewire
)";

// Returns the name of a kind in the script.
std::string_view kind_name(ValueWords::Kind kind) {
    switch (kind) {
        case ValueWords::Kind::files: return "files";
        case ValueWords::Kind::folders: return "folders";
        case ValueWords::Kind::source: return "source";
        case ValueWords::Kind::filters: return "filters";
        case ValueWords::Kind::nothing: break;
    }
    return "";
}

// Returns the patterns of a shell `case` for an option: "'run -i' | 'run --input'" for "run -i", or "'filters'" for a
// positional argument.
std::string patterns(const CommandInfo& command, const OptionInfo& option) {
    std::vector<std::string> names;
    if (option.is_argument()) names.push_back(shell_quoted(command.name));
    for (const auto& name : {option.short_name, option.long_name})
        if (!name.empty()) names.push_back(shell_quoted(command.name + " " + name));
    return fmt::format("{}", fmt::join(names, " | "));
}

// Returns all option names of a command.
std::vector<std::string> option_names(const CommandInfo& command) {
    std::vector<std::string> names;
    for (const auto& option : command.options)
        for (const auto& name : {option.short_name, option.long_name})
            if (!name.empty()) names.push_back(name);
    return names;
}

// Returns the function `_framewire_takes "COMMAND OPTION"`, which sets how many values the option takes, their kind and
// their words.
std::string takes_table(const ProgramInfo& program) {
    std::string cases;
    for (const auto& command : program.subcommands)
        for (const auto& option : command.options) {
            if (option.value.empty()) continue;
            const auto takes = value_words(option.value, program);
            fmt::format_to(std::back_inserter(cases), "        {}) values={} kind={} words={} ;;\n",
                           patterns(command, option), option.values, kind_name(takes.kind),
                           shell_quoted(fmt::format("{}", fmt::join(takes.words, " "))));
        }
    return fmt::format("_framewire_takes() {{\n    values=0 kind= words=\n    case $1 in\n{}    esac\n}}\n", cases);
}

// Returns the function `_framewire_options COMMAND`, which sets the option names of a command.
std::string options_table(const ProgramInfo& program) {
    auto cases = fmt::format("        '') options='{}' ;;\n", fmt::join(option_names(program.program), " "));
    for (const auto& command : program.subcommands)
        fmt::format_to(std::back_inserter(cases), "        {}) options='{}' ;;\n", command.name,
                       fmt::join(option_names(command), " "));
    return fmt::format("_framewire_options() {{\n    options=\n    case $1 in\n{}    esac\n}}\n", cases);
}

}  // namespace

// Parts of the script, in order: lists of names, generated functions, fixed functions.
std::string bash_completion(const ProgramInfo& program) {
    std::vector<std::string> subcommands, filters, sources;
    for (const auto& command : program.subcommands) subcommands.push_back(command.name);
    for (const auto& filter : filter_words()) filters.push_back(filter.name);
    for (const auto& source : source_words()) sources.push_back(source.name + ":");
    return fmt::format("{}_framewire_subcommands='{}'\n_framewire_filters='{}'\n_framewire_sources='{}'\n{}{}{}{}",
                       bash_begin, fmt::join(subcommands, " "), fmt::join(filters, " "), fmt::join(sources, " "),
                       options_table(program), takes_table(program), shell_tables(), bash_end);
}

}  // namespace framewire::app
