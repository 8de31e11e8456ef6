#include "commands/commands.hpp"
#include "commands/json.hpp"
#include "commands/listing/filter_page.hpp"
#include "commands/listing/listing.hpp"
#include "commands/listing/parameter_page.hpp"

#include "framewire/plan/chain.hpp"

#include <fmt/format.h>

#include <iterator>

namespace framewire::app {
namespace {

// Describes a filter as text.
std::string in_words(const FilterInfo& filter) {
    auto words = fmt::format("{}: {}\n", filter.name, filter.summary) + parameter_lines(filter.parameters);
    for (const auto example : filter.examples)
        fmt::format_to(std::back_inserter(words), "    {:<12} -f \"{}\"\n", "for example", example);
    return words;
}

}  // namespace

void add_filters(CommandLine& program, Action& chosen) {
    const auto& filters = filter_registry();
    Listing listing{.command = "filters",
                    .description = "Lists the filters with their parameters, ranges and defaults",
                    .one = "filter",
                    .value = "FILTER",
                    .page_help = "print the filter's page of docs/filters, or the overview",
                    .words = [&](std::size_t entry) { return in_words(filters[entry]); },
                    .page = [&](std::size_t entry) { return filter_page(filters[entry]); },
                    .json = [&](std::size_t entry) { return Json::read(to_json(filters[entry])); },
                    .index = [&] { return filter_index(filters); }};
    for (const auto& filter : filters) listing.names.push_back(filter.name);
    add_listing(program, chosen, std::move(listing));
}

}  // namespace framewire::app
