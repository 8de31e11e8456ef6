#include "commands/listing/filter_page.hpp"
#include "commands/listing/parameter_page.hpp"

#include <fmt/format.h>

#include <iterator>

namespace framewire::app {
namespace {

std::string_view first_example(const FilterInfo& filter) {
    return filter.examples.empty() ? filter.name : filter.examples.front();
}

std::string values_without_keys(const FilterInfo& filter) {
    const auto& parameters = filter.parameters;
    if (filter.unnamed == 1) return fmt::format("A first value without a key is that of `{}`", parameters[0].name);
    auto names = fmt::format("`{}`", parameters[0].name);
    for (std::size_t index = 1; index < filter.unnamed; ++index)
        names += fmt::format("{}`{}`", index + 1 < filter.unnamed ? ", " : " and ", parameters[index].name);
    return fmt::format("First values without keys are those of {}, in this order", names);
}

}  // namespace

std::string filter_page(const FilterInfo& filter) {
    std::string page = fmt::format("# {}\n\n{}\n\n", filter.name, filter.summary);
    auto out = std::back_inserter(page);
    fmt::format_to(out,
                   "| before | `{0}` |\n|---|---|\n| ![before](pictures/before.jpg) | ![after](pictures/{1}.jpg) |\n\n",
                   table_cell(first_example(filter)), filter.name);
    fmt::format_to(out, "```sh\n");
    fmt::format_to(out, "framewire run -i SRC -f \"{}\" -o DST\n", first_example(filter));
    for (std::size_t index = 1; index < filter.examples.size(); ++index)
        fmt::format_to(out, "framewire run -i SRC -f \"{}\" -o DST\n", filter.examples[index]);
    fmt::format_to(out, "```\n\n");
    if (filter.parameters.empty()) {
        fmt::format_to(out, "It has no parameters.\n");
    } else {
        page += parameter_table(filter.parameters);
        fmt::format_to(out, "\n{}.\n", values_without_keys(filter));
    }
    if (filter.needs_previous)
        fmt::format_to(out, "\nThe first frame, which has none before it, is compared with itself.\n");
    if (filter.pointwise)
        fmt::format_to(out,
                       "\nNeighbours in a chain that look at single pixels run as one pass; so does this one wherever "
                       "its values allow.\n");
    if (filter.window)
        fmt::format_to(out,
                       "\nAlone, or beside filters that move pixels and scale, it works on decoded planes as they are "
                       "([more](../outputs.md)).\n");
    fmt::format_to(out, "\n[All filters](README.md)\n");
    return page;
}

std::string filter_index(std::span<const FilterInfo> filters) {
    std::string page =
        "# Filters\n\n"
        "Written by `scripts/filter-docs.sh` from what the program itself knows (`framewire filters`); the pictures "
        "are its own\n"
        "synthetic camera's. How much of a difference stream they save is in [noise-saved.md](noise-saved.md).\n\n"
        "| filter | |\n|---|---|\n";
    for (const auto& filter : filters)
        fmt::format_to(std::back_inserter(page), "| [{0}]({0}.md) | {1} |\n", filter.name, table_cell(filter.summary));
    return page;
}

}  // namespace framewire::app
