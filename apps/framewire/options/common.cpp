#include "options/common.hpp"

#include "framewire/media/sources/source_registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::app {
namespace {

// Those that stand before a text: "synth:", "raw:", ...
std::vector<std::string_view> source_prefixes() {
    std::vector<std::string_view> prefixes;
    for (const auto& kind : source_registry())
        if (!kind.prefix.empty()) prefixes.push_back(kind.prefix);
    return prefixes;
}

}  // namespace

session::JobOptions CommonOptions::job(std::stop_token stop) const {
    return {.backend = parse_backend(backend),
            .threads = threads,
            .frames = frames,
            .replace = replace,
            .statistics_path = statistics_path,
            .progress = parse_progress(progress),
            .time_steps = times,
            .stop = std::move(stop)};
}

void add_times_option(Command& command, CommonOptions& options) {
    command.flag("--times", options.times,
                 "how long each step takes, as a table on standard error, and in --stats; on a GPU steps wait for each "
                 "other then");
}

void show_times(const CommonOptions& options, const StatisticsSnapshot& figures) {
    if (options.times && !figures.steps.empty()) fmt::print(stderr, "{}", to_table(figures.steps));
}

void add_common_options(Command& command, CommonOptions& options) {
    command.option("--backend", options.backend, "where filters run; auto takes a GPU when there is one")
        .one_of({"auto", "cpu", "cuda"});
    command.option("--frames", options.frames, "end after so many frames").positive().type_name("N");
    command.option("--threads", options.threads, "CPU threads of the filters; 0 takes all the machine has")
        .within(0, 1024)
        .type_name("N");
    const auto replace = command.flag("-y,--replace", options.replace, "replace outputs that are there already");
    command.flag("-n,--keep", options.keep, "keep outputs that are there already, and do nothing then")
        .excludes(replace);
    command.option("--stats", options.statistics_path, "write the run's figures to this file").type_name("FILE.json");
    command
        .option("--progress", options.progress, "how the run goes, on standard error; auto draws a bar on a terminal")
        .one_of({"auto", "bar", "json", "none"});
    command.option("--log-level", options.log_level, "least serious messages to show")
        .one_of({"trace", "debug", "info", "warning", "error", "off"});
}

void add_input_options(Command& command, session::InputOptions& options) {
    command
        .option("-i,--input", options.source,
                fmt::format("where frames come from: a path, -, a URL, {}; 'framewire sources' tells more",
                            fmt::join(source_prefixes(), " ")))
        .required()
        .type_name("SRC");
    command.option("-f,--filters", options.filters, "name=value:key=value,name=...; 'framewire filters' lists them")
        .type_name("FILTERS");
}

}  // namespace framewire::app
