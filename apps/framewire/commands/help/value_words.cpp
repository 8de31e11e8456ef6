// Completion of option values. The placeholder in the help is the only description of a value's form, so it is parsed
// here; options do not declare completions separately.

#include "commands/help/value_words.hpp"

#include "framewire/media/sources.hpp"
#include "framewire/plan/chain.hpp"

#include <algorithm>
#include <cctype>
#include <span>

namespace framewire::app {
namespace {

using Kind = ValueWords::Kind;

// Placeholders are written in capital letters.
bool is_capital(char letter) { return letter >= 'A' && letter <= 'Z'; }

// Returns the kind of a placeholder, which may be followed by punctuation: FILE.json, FOLDER/.
Kind kind_of(std::string_view part) {
    const auto named = [part](std::string_view name) {
        return part.starts_with(name) && (part.size() == name.size() || std::ispunct(part[name.size()]) != 0);
    };
    if (named("SRC")) return Kind::source;
    if (part == "FILTERS") return Kind::filters;
    if (named("DST") || named("FILE") || part == "IMAGE" || part == "MODEL") return Kind::files;
    if (named("DIR") || part == "POSITIVES" || part == "NEGATIVES") return Kind::folders;
    return Kind::nothing;
}

// Returns the registered names for a placeholder such as FILTER; empty for other placeholders.
std::vector<std::string> names_of(std::string_view part, const ProgramInfo& program) {
    std::vector<std::string> names;
    if (part == "FILTER")
        for (const auto& filter : filter_registry()) names.emplace_back(filter.name);
    if (part == "SOURCE")
        for (const auto& source : source_registry()) names.emplace_back(source.name);
    if (part == "SUBCOMMAND")
        for (const auto& command : program.subcommands) names.push_back(command.name);
    return names;
}

// Returns the literal beginning of a part: "mean:" for "mean:RATE", empty for "WxH".
std::string_view literal(std::string_view part) {
    return part.substr(0, static_cast<std::size_t>(std::ranges::find_if(part, is_capital) - part.begin()));
}

// Returns the keys and choices of a filter or source. A flag has the choices 0 and 1.
CallWords call_words(std::string_view name, std::span<const ParameterInfo> parameters) {
    CallWords call{.name = std::string(name)};
    for (const auto& parameter : parameters) {
        auto choices = parameter.choices;
        if (parameter.type == ParameterInfo::Type::flag) choices = {"0", "1"};
        call.keys.push_back({parameter.name, choices});
    }
    return call;
}

}  // namespace

// "mean:RATE|FILE" yields the word "mean:" and the kind files. If several parts are kinds, files take precedence.
ValueWords value_words(const std::string& value, const ProgramInfo& program) {
    ValueWords result;
    for (std::string_view rest = value; !rest.empty();) {
        const auto part = rest.substr(0, rest.find_first_of("| "));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
        const auto kind = kind_of(part);
        // File completion also offers folders.
        if (result.kind == Kind::nothing || kind == Kind::files) result.kind = kind;
        for (auto& name : names_of(part, program)) result.words.push_back(std::move(name));
        if (const auto word = literal(part); !word.empty()) result.words.emplace_back(word);
    }
    return result;
}

std::vector<CallWords> filter_words() {
    std::vector<CallWords> all;
    for (const auto& filter : filter_registry()) all.push_back(call_words(filter.name, filter.parameters));
    return all;
}

std::vector<CallWords> source_words() {
    std::vector<CallWords> all;
    for (const auto& source : source_registry())
        if (!source.prefix.empty())
            all.push_back(call_words(source.prefix.substr(0, source.prefix.find(':')), source.parameters));
    return all;
}

}  // namespace framewire::app
