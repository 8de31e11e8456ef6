// Code shared by the subcommands filters and sources.

#include "commands/listing/listing.hpp"
#include "commands/json.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace framewire::app {
namespace {

// Flags of a listing.
struct Options {
    Listing listing;
    std::string name;
    bool json = false, markdown = false;
};

// Returns the indices of the requested entries. Throws Error{usage} if the name is unknown.
std::vector<std::size_t> chosen_entries(const Options& options) {
    const auto& names = options.listing.names;
    std::vector<std::size_t> entries;
    for (std::size_t entry = 0; entry < names.size(); ++entry)
        if (options.name.empty() || names[entry] == options.name) entries.push_back(entry);
    if (entries.empty())
        fail(ErrorCode::usage, "unknown {} {}; {}: {}{}", options.listing.one, in_quotes(options.name),
             options.listing.command, fmt::join(names, ", "), did_you_mean(options.name, names));
    return entries;
}

// Prints the requested entries in the requested form. Returns the exit code.
int list(const Options& options) {
    const auto& listing = options.listing;
    const auto entries = chosen_entries(options);
    if (options.json) {
        auto json = Json::array();
        for (const auto entry : entries) json.push_back(listing.json(entry));
        fmt::print("{}\n", json.text());
    } else if (options.markdown) {
        fmt::print("{}", options.name.empty() ? listing.index() : listing.page(entries.front()));
    } else {
        for (const auto entry : entries) fmt::print("{}", listing.words(entry));
    }
    return 0;
}

}  // namespace

void add_listing(CommandLine& program, Action& chosen, Listing listing) {
    auto command = program.subcommand(std::string(listing.command), std::string(listing.description));
    const auto options = std::make_shared<Options>(Options{.listing = std::move(listing), .name = {}});
    command.option("name", options->name, fmt::format("only this {}", options->listing.one))
        .type_name(std::string(options->listing.value));
    const auto json = command.flag("--json", options->json, "for machines");
    command.flag("--markdown", options->markdown, std::string(options->listing.page_help)).excludes(json);
    command.when_chosen([&chosen, options] { chosen = [options] { return list(*options); }; });
}

}  // namespace framewire::app
