// The subcommand sources: lists the kinds of sources.

#include "commands/commands.hpp"
#include "commands/json.hpp"
#include "commands/listing/listing.hpp"
#include "commands/listing/parameter_page.hpp"

#include "framewire/media/sources.hpp"
#include "framewire/plan/chain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace framewire::app {
namespace {

// Returns the syntax of a source's text, with the extensions that identify it.
std::string form_of(const SourceKind& source) {
    if (source.endings.empty()) return std::string(source.form);
    return fmt::format("{} ending in {}", source.form, fmt::join(source.endings, " "));
}

// Describes a source as JSON.
Json describe(const SourceKind& source) {
    return {{"name", source.name},         {"summary", source.summary},
            {"form", source.form},         {"prefix", source.prefix},
            {"endings", source.endings},   {"available", source.open != nullptr},
            {"examples", source.examples}, {"parameters", Json::read(to_json(source.parameters))}};
}

// Describes a source as text.
std::string in_words(const SourceKind& source) {
    auto words = fmt::format("{}: {}\n    {:<12} {}\n", source.name, source.summary, "-i", form_of(source)) +
                 parameter_lines(source.parameters);
    for (const auto example : source.examples)
        fmt::format_to(std::back_inserter(words), "    {:<12} -i \"{}\"\n", "for example", example);
    return words;
}

// Returns the section about a source for docs/sources.md.
std::string page(const SourceKind& source) {
    auto text = fmt::format("### {}\n\n{}\n\n", source.name, source.summary);
    if (!source.parameters.empty()) text += parameter_table(source.parameters) + "\n";
    text += "```sh\n";
    for (const auto example : source.examples)
        fmt::format_to(std::back_inserter(text), "framewire run -i \"{}\" -o DST\n", example);
    return text + "```\n";
}

// Returns a table of all sources, followed by the sections about those with parameters.
std::string index() {
    std::string text = "| source (`-i`) | | |\n|---|---|---|\n";
    for (const auto& source : source_registry())
        fmt::format_to(std::back_inserter(text), "| {} | `{}` | {} |\n", source.name, table_cell(form_of(source)),
                       table_cell(source.summary));
    for (const auto& source : source_registry())
        if (!source.parameters.empty()) text += "\n" + page(source);
    return text;
}

}  // namespace

void add_sources(CommandLine& program, Action& chosen) {
    const auto& sources = source_registry();
    Listing listing{.command = "sources",
                    .description = "Lists the kinds of sources with their parameters, ranges and defaults",
                    .one = "source",
                    .value = "SOURCE",
                    .page_help = "print the section of docs/sources.md, or all of it",
                    .words = [&](std::size_t entry) { return in_words(sources[entry]); },
                    .page = [&](std::size_t entry) { return page(sources[entry]); },
                    .json = [&](std::size_t entry) { return describe(sources[entry]); },
                    .index = index};
    for (const auto& source : sources) listing.names.push_back(source.name);
    add_listing(program, chosen, std::move(listing));
}

}  // namespace framewire::app
