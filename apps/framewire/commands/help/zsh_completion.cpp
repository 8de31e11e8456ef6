// Completion script for zsh: a specification of _arguments per command, and functions for filter chains and sources.

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

constexpr std::string_view zsh_begin = R"(#compdef framewire
# zsh completion for framewire, written by 'framewire help --completion zsh'.

)";

constexpr std::string_view zsh_end = R"(
# Keys and choices of the call $1 ("filter gray"), whose parameters begin at the end of what matches $2.
_framewire_parameters() {
    local call=$1 rest=${PREFIX#$~2} keys choices
    _framewire_keys $call
    if [[ ${rest##*:} == *=* ]]; then
        _framewire_choices "$call ${${rest##*:}%%=*}"
        compset -P '*='
        compadd -S '' -- ${=choices}
        return
    fi
    if [[ $rest == *:* ]]; then compset -P '*:'; else compset -P "$2"; fi
    compadd -S '=' -- ${=keys}
    if [[ $rest != *:* && $call == filter* ]]; then
        _framewire_choices "$call ${${=keys}[1]}"
        compadd -S '' -- ${=choices}
    fi
}

_framewire_chain() {
    compset -P '*,'
    if [[ $PREFIX == *=* ]]; then
        _framewire_parameters "filter ${PREFIX%%=*}" '[a-z]#='
    else
        compadd -S '' -- ${=_framewire_filters}
    fi
}

_framewire_source() {
    local keys
    _framewire_keys "source ${PREFIX%%:*}"
    if [[ $PREFIX == *:* && -n $keys ]]; then
        _framewire_parameters "source ${PREFIX%%:*}" '[a-z0-9]#:'
    else
        _alternative 'files:file:_files' 'sources:source:compadd -S "" -- ${=_framewire_sources}'
    fi
}

_framewire() {
    setopt localoptions extendedglob
    local curcontext=$curcontext context state state_descr line
    typeset -A opt_args
    _arguments -C $_framewire_program '1:subcommand:->subcommand' '*::argument:->argument'
    case $state in
        subcommand) _describe subcommand _framewire_subcommands ;;
        argument)
            _framewire_specs $words[1]
            _arguments $specs
            ;;
    esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _framewire "$@"
else
    compdef _framewire framewire
fi
)";

// Escapes the characters `special` in a specification of _arguments. The whole result is quoted later.
std::string zsh_escaped(std::string_view text, std::string_view special) {
    std::string escaped;
    for (const char letter : text) {
        if (special.find(letter) != special.npos) escaped += '\\';
        escaped += letter;
    }
    return escaped;
}

// Returns the action of _arguments for an option's value.
std::string action(const ValueWords& takes) {
    std::vector<std::string> words;
    for (const auto& word : takes.words) words.push_back(zsh_escaped(word, ":\\() "));
    const auto list = fmt::format("({})", fmt::join(words, " "));
    switch (takes.kind) {
        case ValueWords::Kind::files:
            return words.empty() ? "_files"
                                 : fmt::format("{{_alternative \"files:file:_files\" \"words:word:{}\"}}",
                                               zsh_escaped(list, "\\\"$`"));
        case ValueWords::Kind::folders: return "_files -/";
        case ValueWords::Kind::source: return "_framewire_source";
        case ValueWords::Kind::filters: return "_framewire_chain";
        case ValueWords::Kind::nothing: break;
    }
    return words.empty() ? " " : list;
}

// Returns the values of an option or argument in a specification: ":SRC:_framewire_source".
std::string zsh_values(const OptionInfo& option, const ProgramInfo& program) {
    std::string text;
    if (option.value.empty()) return text;
    const auto what = action(value_words(option.value, program));
    for (int value = 0; value < option.values; ++value)
        fmt::format_to(std::back_inserter(text), ":{}:{}", zsh_escaped(option.value, ":\\"), what);
    return text;
}

// Returns the specifications of an option for _arguments, one per name.
std::vector<std::string> zsh_specs(const OptionInfo& option, const ProgramInfo& program) {
    const auto values = zsh_values(option, program);
    if (option.is_argument()) return {shell_quoted((option.repeatable ? "*" : "1") + values)};
    std::vector<std::string> names, others = option.excludes, specs;
    for (const auto& name : {option.short_name, option.long_name})
        if (!name.empty()) names.push_back(name);
    others.insert(others.end(), names.begin(), names.end());
    const auto exclusive = option.repeatable ? "*" : fmt::format("({})", fmt::join(others, " "));
    const auto help = fmt::format("[{}]", zsh_escaped(option.help, "[]\\:"));
    for (const auto& name : names) {
        const auto joined = option.value.empty() || option.values > 1 ? "" : name.starts_with("--") ? "=" : "+";
        specs.push_back(shell_quoted(exclusive + name + joined + help + values));
    }
    return specs;
}

// Returns the specifications of all options of a command, one per line.
std::string zsh_specs(const CommandInfo& command, const ProgramInfo& program) {
    std::string text;
    for (const auto& option : command.options)
        for (const auto& spec : zsh_specs(option, program)) text += "\n            " + spec;
    return text;
}

}  // namespace

// The script works both as an autoloaded function and when it is sourced.
std::string zsh_completion(const ProgramInfo& program) {
    std::string script(zsh_begin), cases;
    auto out = std::back_inserter(script);
    std::vector<std::string> filters, sources;
    for (const auto& filter : filter_words()) filters.push_back(filter.name);
    for (const auto& source : source_words()) sources.push_back(source.name + ":");
    fmt::format_to(out, "_framewire_filters='{}'\n_framewire_sources='{}'\n_framewire_program=({})\n",
                   fmt::join(filters, " "), fmt::join(sources, " "), zsh_specs(program.program, program));
    script += "_framewire_subcommands=(";
    for (const auto& command : program.subcommands) {
        fmt::format_to(out, "\n    {}", shell_quoted(command.name + ":" + zsh_escaped(command.description, ":\\")));
        fmt::format_to(std::back_inserter(cases), "        {}) specs=({}) ;;\n", command.name,
                       zsh_specs(command, program));
    }
    fmt::format_to(out, ")\n_framewire_specs() {{\n    specs=()\n    case $1 in\n{}    esac\n}}\n{}{}", cases,
                   shell_tables(), zsh_end);
    return script;
}

}  // namespace framewire::app
