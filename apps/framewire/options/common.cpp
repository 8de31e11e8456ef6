#include "options/common.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/info.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/core/time/seconds.hpp"
#include "framewire/media/sources/source_registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
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

void add_filters_option(Command& command, std::string& filters) {
    command.option("-f,--filters", filters, "name=value:key=value,name=...; 'framewire filters' lists them")
        .type_name("FILTERS");
}

// What options of any kind of source there are, beside its name.
void add_medium_options(Command& command, session::InputOptions& options) {
    command.option("--matrix", options.matrix, "of YUV colours, instead of what the medium says")
        .one_of({"bt601", "bt709", "bt2020"});
    command.option("--range", options.range, "of YUV colours, instead of what the medium says")
        .one_of({"limited", "full"});
    add_filters_option(command, options.filters);
    add_range_options(command, options);
    add_reconnect_option(
        command, options.reconnect,
        "how long a camera or a network source that was lost is tried to be had again, from its loss to "
        "its next frame")
        .shown_default("5 attempts");
}

}  // namespace

void add_range_options(Command& command, session::InputOptions& options) {
    const auto problem = [](const std::string& text) {
        return parse_seconds(text) ? std::string()
                                   : fmt::format("'{}' is no time; allowed are {}", text, allowed_seconds);
    };
    command
        .option(
            "--start", [&options](const std::string& text) { options.start_seconds = *parse_seconds(text); },
            "begin with the frame of that time, or the next one")
        .check(problem)
        .type_name("TIME");
    command
        .option(
            "--duration", [&options](const std::string& text) { options.duration_seconds = *parse_seconds(text); },
            "end so long after the start")
        .check(problem)
        .type_name("TIME");
}

PlayRate take_rate(const std::string& text, std::string_view allowed, session::InputOptions& options) {
    if (text == "auto" && allowed.starts_with(text)) return PlayRate::by_output;
    if (text == "own") return PlayRate::own;
    if (text == "max") return PlayRate::max;
    auto& fps = options.fps;
    if (read_number(text, fps) != std::errc{} || !(fps >= 0.01 && fps <= 10'000))
        fail(ErrorCode::usage, "--rate '{}' is not allowed; allowed are {} and 0.01 to 10000 frames a second", text,
             allowed);
    return PlayRate::by_output;
}

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
    command.flag("-n,--no-replace", options.keep, "keep outputs that are there already, and do nothing then")
        .excludes(replace);
    command.option("--stats", options.statistics_path, "write the run's figures to this file").type_name("FILE.json");
    command
        .option("--progress", options.progress, "how the run goes, on standard error; auto draws a bar on a terminal")
        .one_of({"auto", "bar", "json", "none"});
    command.option("--log-level", options.log_level, "least serious messages to show")
        .one_of({"trace", "debug", "info", "warning", "error", "off"});
}

Option add_reconnect_option(Command& command, std::optional<std::chrono::milliseconds>& time, const std::string& help) {
    static const ParameterInfo seconds{
        .name = "reconnect", .help = "", .type = ParameterInfo::Type::real, .minimum = 0, .maximum = 86'400};
    const auto take = [&time](const std::string& text) {
        if (text == "forever")
            time = std::chrono::milliseconds::max();
        else
            time = std::chrono::milliseconds(std::llround(1000 * number_in<double>(text).value()));
    };
    return command.option("--reconnect", take, help)
        .check([](const std::string& text) {
            const auto problem = text == "forever" ? std::string_view() : problem_with(seconds, text);
            return problem.empty() ? std::string()
                                   : fmt::format("{} {}; allowed is a number of seconds from 0 to 86400, or forever",
                                                 in_quotes(text), problem);
        })
        .type_name("SECONDS|forever");
}

void add_input_options(Command& command, session::InputOptions& options) {
    command
        .option("-i,--input", options.source,
                fmt::format("where frames come from: a path, -, a URL, {}; 'framewire sources' tells more",
                            fmt::join(source_prefixes(), " ")))
        .required()
        .type_name("SRC");
    add_medium_options(command, options);
}

void add_input_options(Command& command, std::vector<std::string>& sources, session::InputOptions& options) {
    command
        .option("-i,--input", sources,
                fmt::format("where frames come from: a path, -, a URL, {}; 'framewire sources' tells more. Many files, "
                            "with -o FOLDER/: several of these, folders, patterns ('clips/*.avi'), @LIST",
                            fmt::join(source_prefixes(), " ")))
        .required()
        .type_name("SRC...");
    add_medium_options(command, options);
}

}  // namespace framewire::app
